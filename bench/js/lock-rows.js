// The works of a manager of locks by name, and the meaning of their numbers.
const { performance } = require('node:perf_hooks')
const { growth, keep } = require('./memory.js')
const { measured, warmUpMs } = require('./rows.js')

const heldNames = 20_000
const busyNames = 5_000
const queuedRequests = 10_000

const lockRows = {
  'locks-uncontended': {
    title: '`await locks.request(name, fn)`',
    unit: 'k/s',
    measure: async (locks) => ({ value: 1e6 / (await nanosecondsAnOp(locks)) }),
  },
  'locks-queued-1000': queue(1_000),
  'locks-queued-10000': queue(10_000),
  'locks-held': {
    title: '20,000 names, all held at once',
    unit: 'ms',
    measure: holds,
  },
  'locks-busy': {
    title: 'a request while 5,000 other names are held and waited for',
    unit: 'us',
    measure: besideOthers,
    lines: [
      {
        field: 'value',
        title: 'a request while 5,000 other names are held and waited for',
        unit: 'us',
      },
      { field: 'growth', title: 'as a multiple of one without them', unit: '' },
    ],
  },
  'locks-bytes': {
    title: 'memory of a queued request, its promise included',
    unit: 'B',
    measure: queuedBytes,
  },
}

function queue(length) {
  return {
    title: `${length.toLocaleString('en-US')} queued on one name, then drained`,
    unit: 'ms',
    measure: (locks) => queues(locks, length),
  }
}

// Not synchronous: 20,000 synchronous callbacks in one queue overflow the stack of Node's own
// manager.
const body = async () => {}

function nanosecondsAnOp(locks) {
  return measured(async (count) => {
    for (let i = 0; i < count; ++i) await locks.request('bench', body)
  })
}

/** Holds `name`. Resolves to the function that releases it. */
function held(locks, name) {
  return new Promise((resolve) => {
    locks.request(name, () => new Promise(resolve))
  })
}

async function queues(locks, length) {
  for (let start = performance.now(); performance.now() - start < warmUpMs; ) {
    await drain(locks, 1_000)
  }
  globalThis.gc()
  return { value: await drain(locks, length) }
}

async function drain(locks, length) {
  const letGo = await held(locks, 'bench')
  const start = performance.now()
  const all = Array.from({ length }, () => locks.request('bench', body))
  letGo()
  await Promise.all(all)
  return performance.now() - start
}

async function holds(locks) {
  const start = performance.now()
  await Promise.all(Array.from({ length: heldNames }, (_, i) => held(locks, `held ${i}`)))
  return { value: performance.now() - start }
}

async function besideOthers(locks) {
  const alone = await nanosecondsAnOp(locks)
  for (let i = 0; i < busyNames; ++i) {
    await held(locks, `busy ${i}`)
    locks.request(`busy ${i}`, body)
  }
  const beside = await nanosecondsAnOp(locks)
  return { value: beside / 1e3, growth: beside / alone }
}

async function queuedBytes(locks) {
  const queueUp = async (name) => {
    const all = new Array(queuedRequests).fill(null)
    await held(locks, name)
    return growth(queuedRequests, () => {
      for (let i = 0; i < queuedRequests; ++i) all[i] = locks.request(name, body)
      keep(all)
    })
  }
  // The first to fill a heap pays for V8's own tables.
  await queueUp('early')
  const bytes = await queueUp('bench')
  return { value: bytes.heap + bytes.native, ...bytes }
}

module.exports = { lockRows }
