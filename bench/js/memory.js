// The memory cost of a lock: V8's heap, and C++ allocations outside of it.
const { getHeapStatistics } = require('node:v8')
const { held, oneTurn } = require('./queue.js')

/** Bytes that a queued waiter costs in addition to the awaiting function and its promise. */
async function waiterBytes(form, count = 100_000) {
  const holder = held(form)
  await null
  const wait = oneTurn(form, holder.lock, () => {})
  const waitPlainly = async (promise) => {
    await promise
  }
  const lists = Array.from({ length: 5 }, () => new Array(count).fill(null))
  const [earlyPromises, earlyTasks, tasks, promises, plainTasks] = lists
  const addPlain = (promisesTo, tasksTo) => {
    for (let i = 0; i < count; ++i) {
      promisesTo[i] = new Promise(() => {})
      tasksTo[i] = waitPlainly(promisesTo[i])
    }
  }
  for (let i = 0; i < 1_000; ++i) wait()
  // The first to fill a heap pays for V8's own tables, so that run is not measured. And nothing is
  // freed in between: memory left behind would make the next measurement too cheap.
  addPlain(earlyPromises, earlyTasks)
  const waiter = growth(count, () => {
    for (let i = 0; i < count; ++i) tasks[i] = wait()
  })
  const plain = growth(count, () => addPlain(promises, plainTasks))
  keep(holder, lists)
  return { value: sum(waiter) - sum(plain), waiter, plain }
}

/** Bytes that a key leaves behind after one use. */
async function idleKeyBytes(form, count = 1_000_000) {
  const locks = form.create()
  await useKeys(form, locks, 0, 200_000)
  const before = footprint()
  await useKeys(form, locks, 200_000, count)
  const after = footprint()
  const bytes = per(count, before, after)
  keep(locks)
  return { value: sum(bytes), ...bytes }
}

async function useKeys({ enter, leave, run }, locks, from, count) {
  for (let i = from; i < from + count; ++i) {
    const key = `user-${i}`
    if (run) await run(locks, () => {}, key)
    else leave(locks, await enter(locks, key))
  }
}

/** Bytes of a free lock that was used once. */
async function idleLockBytes(form, count = 100_000) {
  const locks = new Array(count).fill(null)
  await useLocks(form, new Array(1_000).fill(null))
  const before = footprint()
  await useLocks(form, locks)
  const bytes = per(count, before, footprint())
  keep(locks)
  return { value: sum(bytes), ...bytes }
}

async function useLocks({ create, enter, leave, run }, locks) {
  for (let i = 0; i < locks.length; ++i) {
    locks[i] = create()
    if (run) await run(locks[i], () => {})
    else leave(locks[i], await enter(locks[i]))
  }
}

function growth(count, work) {
  const before = footprint()
  work()
  return per(count, before, footprint())
}

function per(count, before, after) {
  return {
    heap: (after.heap - before.heap) / count,
    native: Math.max(0, after.native - before.native) / count,
  }
}

function footprint() {
  globalThis.gc()
  globalThis.gc() // frees what the first collection only found to be dead behind weak references
  const { used_heap_size: heap, total_physical_size: committed } = getHeapStatistics()
  return { heap, native: process.memoryUsage.rss() - committed }
}

/** Until then the measured objects must not be collected. */
function keep(...objects) {
  globalThis.boxofficeBenchKeeps ??= []
  globalThis.boxofficeBenchKeeps.push(...objects)
}

function sum({ heap, native }) {
  return heap + native
}

module.exports = { growth, idleKeyBytes, idleLockBytes, keep, waiterBytes }
