'use strict'
// What is alive on the heap of this thread, for the tests of leaks.
const { queryObjects, setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')

setFlagsFromString('--expose-gc')
/** Bun has a function of its own, and no flags. */
const gc = globalThis.Bun?.gc ?? runInNewContext('gc')
const turn = () => new Promise(setImmediate)

/** Collects garbage. Finalizers run in turns of the event loop after the collection. */
async function collect() {
  for (let i = 0; i < 3; i++) {
    gc()
    await turn()
    await turn()
  }
}

/**
 * { objects, buffers, bytes, rss }: the number of live objects; the bytes outside of V8's heap; these
 * and the bytes of the heap, which V8's compilers change as they like; the process's memory.
 */
async function live() {
  await collect()
  const objects = queryObjects(Object, { format: 'count' })
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage()
  const buffers = external + arrayBuffers
  return { objects, buffers, bytes: heapUsed + buffers, rss }
}

/**
 * What `round` adds to live(), in the best of up to four rounds, until none is more than in `most`. A
 * leak occurs in each round; what V8 and Node keep for themselves is added once or twice.
 */
async function growth(round, most) {
  const least = { objects: Infinity, buffers: Infinity, bytes: Infinity, rss: Infinity }
  const isMore = () => Object.keys(most).some((what) => least[what] > most[what])
  for (let i = 0; i < 4 && isMore(); i++) {
    const before = await live()
    await round(i)
    const after = await live()
    for (const what in least) least[what] = Math.min(least[what], after[what] - before[what])
  }
  return least
}

module.exports = { collect, growth, live }
