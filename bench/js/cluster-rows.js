// The works of several processes with a server between them, and the meaning of their numbers.
const { clusterKits } = require('./cluster-kits.js')
const { clusterServers } = require('./cluster-servers.js')
const { quantile } = require('./numbers.js')
const { freePort, startProcess } = require('./processes.js')

const measuredMs = 2_000
/** As in a server that runs for long, the thread that renews our sessions is connected by the end of the warm-up. */
const warmUpMs = 2_500
const handOffs = 60
const warmUpHandOffs = 80

const clusterRows = {
  'cluster-alone': {
    title: 'by a server, one caller: acquire and release',
    unit: 'k/s',
    measure: (kit) => contend(kit, 1, 1),
    lines: [
      { field: 'value', title: 'by a server, one caller: acquire and release', unit: 'k/s' },
      { field: 'p50', title: 'its wait, p50', unit: 'ms' },
    ],
  },
  'cluster-1000-waiters': {
    title: 'by a server, 1,000 wait in one process for one key, each once',
    unit: 'ms',
    measure: drain,
  },
  'cluster-hand-off': {
    title: 'by a server, hand-off from one process to another',
    unit: 'ms',
    measure: handOff,
    lines: [
      {
        field: 'value',
        title: 'by a server, hand-off from one process to another: p50',
        unit: 'ms',
      },
      { field: 'p99', title: 'p99', unit: 'ms' },
    ],
  },
  'cluster-4-20': {
    title: 'by a server, 4 processes with 20 callers each contend for one key',
    unit: 'k/s',
    measure: (kit) => contend(kit, 4, 20),
    lines: [
      {
        field: 'value',
        title: 'by a server, 4 processes with 20 callers each contend for one key',
        unit: 'k/s',
      },
      { field: 'p99', title: 'p99 of the waits', unit: 'ms' },
      { field: 'fairness', title: 'fewest / most turns of a process', unit: '' },
      { field: 'commands', title: 'commands of the server for each turn', unit: '' },
    ],
  },
}

const firstRows = {
  'first-acquire': {
    title: 'by a server, the first acquire of a process',
    unit: 'ms',
    measure: first,
    lines: [
      {
        field: 'value',
        title: 'by a server, the first acquire of a process: time of the CPU, of all threads',
        unit: 'ms',
      },
      { field: 'elapsed', title: 'until it is granted', unit: 'ms' },
    ],
  },
}

/** Whether `kit` does the work of so many callers here. */
function does(kit, callers) {
  const { callers: [least, most] = [1, Infinity], server } = clusterKits[kit]
  return !clusterServers[server].isMissing && least <= callers && callers <= most
}

async function contend(kit, count, tasks) {
  if (!does(kit, count * tasks)) return null
  return withProcesses(kit, count, async (all, server) => {
    const each = (work) => Promise.all(all.map((one) => one.do(work)))
    await each({ name: 'contend', key: 'key', tasks, ms: warmUpMs })
    const before = await server.commands()
    const results = await each({ name: 'contend', key: 'key', tasks, ms: measuredMs })
    const after = await server.commands()
    const turns = results.map((result) => result.turns)
    const total = turns.reduce((sum, one) => sum + one)
    const waits = results.flatMap((result) => result.waits)
    return {
      value: total / Math.max(...results.map((result) => result.elapsed)),
      p50: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
      fairness: Math.min(...turns) / Math.max(...turns),
      commands: before === undefined ? undefined : (after - before) / total,
    }
  })
}

async function drain(kit) {
  if (!does(kit, 1_000)) return null
  return withProcesses(kit, 1, async ([one]) => {
    await one.do({ name: 'drain', key: 'key', tasks: 100 })
    const { elapsed } = await one.do({ name: 'drain', key: 'key', tasks: 1_000 })
    return { value: elapsed }
  })
}

async function handOff(kit) {
  if (!does(kit, 2)) return null
  return withProcesses(kit, 2, async ([first, second]) => {
    const latencies = []
    let [holder, waiter] = [first, second]
    await holder.do({ name: 'enter', key: 'key' })
    for (let round = 0; round < handOffs + warmUpHandOffs; ++round) {
      const entered = waiter.do({ name: 'enter', key: 'key' })
      await holder.do({ name: 'leaveIn', ms: someTime() })
      // This process sleeps during the hand-overs, so that it does not compete for a processor.
      latencies.push((await entered) - (await holder.do({ name: 'left' })))
      ;[holder, waiter] = [waiter, holder]
    }
    const measured = latencies.slice(warmUpHandOffs)
    return { value: quantile(measured, 0.5), p99: quantile(measured, 0.99) }
  })
}

/**
 * Long enough that a waiter is known to the server, because no event reports that. And random: a
 * caller that polls every 10 ms would otherwise find the lock always just free, or always just
 * taken.
 */
const someTime = () => 20 + 20 * Math.random()

async function first(kit) {
  if (!does(kit, 1)) return null
  return withFresh(kit, 1, ([one]) => one.do({ name: 'first', key: 'key' }))
}

/** The same with processes that have acquired a lock before. */
async function withProcesses(kit, count, use) {
  return withFresh(kit, count, async (all, server) => {
    await Promise.all(all.map((one) => one.do({ name: 'ready' })))
    return use(all, server)
  })
}

async function withFresh(kit, count, use) {
  const { start, commands } = clusterServers[clusterKits[kit].server]
  const port = await freePort()
  const stop = await start(port)
  const all = Array.from({ length: count }, () =>
    startProcess('cluster-process.js', [kit, `${port}`]),
  )
  try {
    return await use(all, { commands: () => commands(port) })
  } finally {
    for (const { child } of all) child.kill('SIGKILL')
    await Promise.all(all.map(({ ended }) => ended))
    await stop()
  }
}

module.exports = { clusterRows, firstRows }
