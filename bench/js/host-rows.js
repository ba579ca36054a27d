// The works of several processes, and the meaning of their numbers. Contending processes read the
// clock at each turn.
const { mkdtempSync, rmSync, readdirSync, statSync } = require('node:fs')
const path = require('node:path')
const { hostKits } = require('./host-kits.js')
const { median, quantile } = require('./numbers.js')
const { freePort, startProcess } = require('./processes.js')

const measuredMs = 1_000
const warmUpMs = 300
const handOffs = 300
const warmUpHandOffs = 30
const deaths = 15
const gigabyte = 2 ** 30

// Each returns the row's numbers; null for a kit that cannot do the work.
const hostRows = {
  'host-now': {
    title: 'between processes, uncontended, without waiting: try, and leave',
    unit: 'k/s',
    measure: (kit) => alone(kit, 'now'),
  },
  'host-uncontended': {
    title: 'between processes, uncontended: `await lock(); unlock()`',
    unit: 'k/s',
    measure: (kit) => alone(kit, 'uncontended'),
  },
  'host-2-one-key': contention(2, 1),
  'host-4-one-key': contention(4, 1),
  'host-2-keys': contention(2, 1_000),
  'host-4-keys': contention(4, 1_000),
  'host-hand-off': {
    title: 'hand-off from one process to another',
    unit: 'us',
    measure: handOff,
    lines: [
      { field: 'value', title: 'hand-off from one process to another: p50', unit: 'us' },
      { field: 'p99', title: 'p99', unit: 'us' },
    ],
  },
  'host-relay': {
    title: 'hand-off between processes that take turns',
    unit: 'us',
    measure: relay,
    lines: [
      { field: 'value', title: 'hand-off between processes that take turns: p50', unit: 'us' },
      { field: 'p99', title: 'p99', unit: 'us' },
    ],
  },
  'host-death': {
    title: 'from SIGKILL of the holder to the next admission',
    unit: 'ms',
    measure: (kit) => death(kit, 0, deaths),
  },
  'host-death-1gb': {
    title: 'the same, with 1 GB in the dead process',
    unit: 'ms',
    measure: (kit) => death(kit, gigabyte, 3),
  },
  'host-bytes': {
    title: 'memory of the files of a lock',
    unit: 'kB',
    measure: bytes,
  },
}

function contention(processes, keys) {
  const what = keys === 1 ? 'one key' : `${keys.toLocaleString('en-US')} keys`
  const title = `${processes} processes contend for ${what}`
  return {
    title,
    unit: 'k/s',
    measure: (kit) => contend(kit, processes, keys),
    lines: [
      { field: 'value', title, unit: 'k/s' },
      { field: 'longest', title: 'longest wait', unit: 'ms' },
      { field: 'fairness', title: 'fewest / most turns of a process', unit: '' },
    ],
  }
}

async function alone(kit, name) {
  return withProcesses(kit, 1, async ([one]) => {
    const warm = await one.do({ name, ms: warmUpMs })
    if (warm === null) return null
    const { turns, elapsed } = await one.do({ name, ms: measuredMs })
    return { value: turns / elapsed }
  })
}

async function contend(kit, count, keys) {
  if (hasFewerKeys(kit, keys)) return null
  return withProcesses(kit, count, async (all) => {
    const each = (work) => Promise.all(all.map((one) => one.do(work)))
    await each({ name: 'check', turns: 50 })
    await each({ name: 'contend', keys, ms: warmUpMs })
    const results = await each({ name: 'contend', keys, ms: measuredMs })
    const turns = results.map((result) => result.turns)
    const elapsed = Math.max(...results.map((result) => result.elapsed))
    return {
      value: turns.reduce((sum, one) => sum + one) / elapsed,
      longest: Math.max(...results.map((result) => result.longest)),
      fairness: Math.min(...turns) / Math.max(...turns),
    }
  })
}

/** The waiter is queued, and its process asleep, when the holder releases. */
async function handOff(kit) {
  if (isBlocking(kit)) return null
  return withProcesses(kit, 2, async ([first, second]) => {
    const latencies = []
    let [holder, waiter] = [first, second]
    await holder.do({ name: 'enter' })
    for (let round = 0; round < handOffs + warmUpHandOffs; ++round) {
      const entered = waiter.do({ name: 'enter' })
      await pause()
      const left = await holder.do({ name: 'leave' })
      latencies.push(((await entered) - left) * 1e3)
      ;[holder, waiter] = [waiter, holder]
    }
    const measured = latencies.slice(warmUpHandOffs)
    return { value: quantile(measured, 0.5), p99: quantile(measured, 0.99) }
  })
}

/** Each releases right after it was admitted, when the other has just begun to wait. */
async function relay(kit) {
  if (isBlocking(kit) || hasFewerKeys(kit, 3)) return null
  return withProcesses(kit, 2, async (all) => {
    await Promise.all(all.map((one, key) => one.do({ name: 'take', key })))
    const work = { name: 'relay', turns: handOffs + warmUpHandOffs }
    const [one, two] = await Promise.all(all.map((each, key) => each.do({ ...work, key })))
    // The second process begins: its first key is free.
    const latencies = one.came.map((came, i) => (came - two.left[i]) * 1e3)
    two.came.slice(1).forEach((came, i) => {
      latencies.push((came - one.left[i]) * 1e3)
    })
    const measured = latencies.filter((_, i) => i % work.turns >= warmUpHandOffs)
    return { value: quantile(measured, 0.5), p99: quantile(measured, 0.99) }
  })
}

async function death(kit, ballast, rounds) {
  if (!hostKits[kit].hears || isBlocking(kit)) return null
  const times = []
  for (let round = 0; round < rounds; ++round) {
    const time = await withProcesses(kit, 2, async ([holder, waiter]) => {
      await holder.do({ name: 'enter', ballast })
      const entered = waiter.do({ name: 'enter' })
      await pause()
      const killed = Number(process.hrtime.bigint()) / 1e6
      holder.child.kill('SIGKILL')
      return (await entered) - killed
    })
    times.push(time)
  }
  return { value: median(times) }
}

async function bytes(kit) {
  if (!kit.startsWith('ours')) return null
  const directory = newDirectory()
  try {
    const open = hostKits[kit].open({ directory })
    open.tryEnter(0)
    const sizes = readdirSync(directory, { recursive: true })
      .filter((file) => file.endsWith('.lock'))
      .map((file) => statSync(path.join(directory, file)).blocks * 512)
    open.leave(0)
    return { value: sizes.reduce((sum, one) => sum + one, 0) / 1e3 }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const hasFewerKeys = (kit, count) => hostKits[kit].keys < count

/** A transaction of SQLite blocks its whole process, which cannot answer meanwhile. */
const isBlocking = (kit) => kit.startsWith('node:sqlite')

/** Long enough for a waiting process to fall asleep: no event reports that. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 2))

async function withProcesses(kit, count, use) {
  const means = { directory: newDirectory(), port: await freePort() }
  const stop = await hostKits[kit].serve?.(means)
  const broker = new Map()
  const all = Array.from({ length: count }, () => start(kit, means, broker))
  try {
    return await use(all)
  } finally {
    for (const { child } of all) child.kill('SIGKILL')
    await Promise.all(all.map(({ ended }) => ended))
    stop?.()
    rmSync(means.directory, { recursive: true, force: true })
  }
}

function start(kit, means, broker) {
  const hear = (question, child) => serve(broker, child, question)
  const one = startProcess('host-process.js', [kit, JSON.stringify(means)], hear)
  one.ended.then(() => forget(broker, one.child))
  return one
}

/** The usual hand-written lock: a Map of queues in the primary of a cluster. */
function serve(lines, child, { question, id }) {
  const key = question.enter ?? question.leave
  if (question.enter !== undefined) {
    const line = lines.get(key)
    if (line !== undefined) return line.push({ child, id })
    lines.set(key, [{ child, id }])
    child.send({ answer: id })
  } else {
    next(lines, key)
  }
}

function next(lines, key) {
  const line = lines.get(key)
  line.shift()
  if (line.length === 0) lines.delete(key)
  else line[0].child.send({ answer: line[0].id })
}

function forget(lines, child) {
  for (const [key, line] of lines) {
    if (line[0].child === child) next(lines, key)
  }
}

function newDirectory() {
  return mkdtempSync('/dev/shm/boxoffice-bench-')
}

module.exports = { contend, hostRows }
