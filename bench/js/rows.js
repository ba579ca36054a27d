// The works: which form of a kit does each, and the meaning of its number.
const { performance } = require('node:perf_hooks')
const { drain, turnsOfQueue } = require('./queue.js')
const { idleKeyBytes, idleLockBytes, waiterBytes } = require('./memory.js')

const speed = { unit: 'k/s' }
const measuredMs = 500
const warmUpMs = 300
const opsBetweenLooks = 500

const rows = {
  pair: {
    ...speed,
    title: '`await lock(); unlock()`',
    form: 'pair',
    measure: async (form) => thousandsASecond(await nanosecondsAnOp(form)),
  },
  releaser: {
    ...speed,
    title: '`release = await acquire(); release()`',
    form: 'releaser',
    measure: async (form) => thousandsASecond(await nanosecondsAnOp(form)),
  },
  run: {
    ...speed,
    title: '`await runExclusive(fn)`',
    form: 'run',
    measure: async (form) => thousandsASecond(await nanosecondsAnOp(form)),
  },
  semaphore: {
    ...speed,
    title: '`[value, release] = await semaphore.acquire(); release()`',
    form: 'semaphore',
    measure: async (form) => thousandsASecond(await nanosecondsAnOp(form)),
  },
  'keyed-acquire': {
    ...speed,
    title: '100,000 keys, acquire and release',
    form: 'keyed',
    measure: async (form) => thousandsASecond(await nanosecondsAKey(form, 100_000)),
  },
  'keyed-run': {
    ...speed,
    title: '100,000 keys, run',
    form: 'keyedRun',
    measure: async (form) => thousandsASecond(await nanosecondsAKey(form, 100_000)),
  },
  'keyed-hot': {
    ...speed,
    title: '100 keys, run',
    form: 'keyedRun',
    measure: async (form) => thousandsASecond(await nanosecondsAKey(form, 100)),
  },
  'read-mostly': {
    ...speed,
    title: 'read-write lock, 95 % reads: `await run(fn)`',
    form: 'readMostly',
    measure: async (form) => thousandsASecond(await nanosecondsAnOp(form)),
  },
  'read-mostly-contended': {
    ...speed,
    title: 'read-write lock, 95 % reads: 1,000 tasks contend, microtask body',
    form: 'readMostly',
    measure: async (form) => thousandsASecond(await nanosecondsATurn(form, 1_000)),
  },
  contended: {
    ...speed,
    title: '1,000 tasks contend, microtask body',
    form: 'line',
    measure: async (form) => thousandsASecond(await nanosecondsATurn(form, 1_000)),
  },
  drain: {
    unit: 'ms',
    title: '100,000 waiters queued, then drained',
    form: 'line',
    measure: drains,
  },
  limit: {
    ...speed,
    title: '1,000 functions through a limit of 5',
    form: 'limit',
    measure: async (form) => thousandsASecond(await nanosecondsAFunction(form)),
  },
  map: {
    ...speed,
    title: '1,000 items mapped, 5 at a time',
    form: 'map',
    measure: async (form) => thousandsASecond(await nanosecondsAnItem(form)),
  },
  'waiter-bytes': {
    unit: 'B',
    title: "memory of a waiter over the promise's own",
    form: 'line',
    measure: waiterBytes,
  },
  'key-bytes': {
    unit: 'B',
    title: 'memory of an idle key',
    form: 'keyedRun',
    measure: idleKeyBytes,
  },
  'lock-bytes': {
    unit: 'B',
    title: 'memory of an idle lock',
    form: 'line',
    measure: idleLockBytes,
  },
}

/** The works of the curves, which cell.js runs with a size. */
const curves = {
  'by-line-length': {
    form: 'line',
    measure: async (form, length) => ({ value: await nanosecondsATurn(form, length) }),
  },
  'by-keys': {
    form: 'keyedRun',
    measure: async (form, keys) => ({ value: await nanosecondsAKey(form, keys) }),
  },
}

/** Without contention: one task locks repeatedly. */
async function nanosecondsAnOp(form) {
  return measured(form.run ? runs(form, form.create()) : enters(form, form.create()))
}

/** Without contention: one task locks one key after the other. */
async function nanosecondsAKey(form, keyCount) {
  const locks = form.create()
  const nextKey = keysInTurn(keyCount)
  return measured(form.run ? runs(form, locks, nextKey) : enters(form, locks, nextKey), keyCount)
}

/** A new string each time, as from a request: V8 would cache the hash of a reused one. */
function keysInTurn(count) {
  let at = 0
  return () => {
    if (at === count) at = 0
    return `user-${at++}`
  }
}

function enters({ enter, leave }, lock, nextKey = noKey) {
  return async (count) => {
    for (let i = 0; i < count; ++i) {
      const grant = await enter(lock, nextKey())
      leave(lock, grant)
    }
  }
}

function runs({ run }, lock, nextKey = noKey) {
  const body = async () => {}
  return async (count) => {
    for (let i = 0; i < count; ++i) await run(lock, body, nextKey())
  }
}

function noKey() {}

const batch = 1_000

/** All functions of a batch are called at once. */
async function nanosecondsAFunction({ create, run }) {
  const lock = create()
  const body = async () => {}
  const repeat = () => Promise.all(Array.from({ length: batch }, () => run(lock, body)))
  return (await measured(repeat)) * (opsBetweenLooks / batch)
}

async function nanosecondsAnItem({ create, mapAll }) {
  const lock = create()
  const items = Array.from({ length: batch }, (_, item) => item)
  const body = async () => {}
  return (await measured(() => mapAll(lock, items, body))) * (opsBetweenLooks / batch)
}

async function measured(repeat, warmUpCount = 1) {
  await timed(repeat, warmUpMs, warmUpCount)
  globalThis.gc()
  return timed(repeat, measuredMs, 1)
}

async function timed(repeat, ms, atLeast) {
  const start = performance.now()
  for (let count = opsBetweenLooks; ; count += opsBetweenLooks) {
    await repeat(opsBetweenLooks)
    const elapsed = performance.now() - start
    if (elapsed >= ms && count >= atLeast) return (elapsed * 1e6) / count
  }
}

async function nanosecondsATurn(form, length) {
  await turnsOfQueue(form, 100, warmUpMs)
  return turnsOfQueue(form, length, measuredMs)
}

async function drains(form) {
  for (let start = performance.now(); performance.now() - start < warmUpMs; ) {
    await drain(form, 1_000)
  }
  const tenth = await drain(form, 10_000)
  const value = await drain(form, 100_000)
  return { value, growth: value / tenth / 10 }
}

function thousandsASecond(nanoseconds) {
  return { value: 1e6 / nanoseconds }
}

module.exports = { curves, measured, measuredMs, nanosecondsAKey, rows, warmUpMs }
