'use strict'
// The code of the workers of test/process/threads.test.js, and of the main thread beside them.
const assert = require('node:assert/strict')

// [0] entries, counted without atomics; [1] the holder; [2] two were inside; [3] stop
const entries = 0
const inside = 1
const broken = 2
const stop = 3

/** For workers and the main thread: enters and leaves, with time between reading and writing. */
function enterOnce(seen) {
  if (seen[1]++ !== 0) seen[2] = 1
  const before = seen[0]
  for (let i = 0; i < 20; i++) if (seen[1] !== 1) seen[2] = 1
  seen[0] = before + 1
  if (seen[1]-- !== 1) seen[2] = 1
}

const workerHead = `
  const mutex = new Mutex({ buffer: workerData.buffer })
  const seen = new Int32Array(workerData.seen)
  const say = (what) => parentPort.postMessage(what)
  const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  ${enterOnce}
`

/** Enters and leaves, blocking, until told to stop. */
const blocking = `
  say('ready')
  let count = 0
  while (Atomics.load(seen, ${stop}) === 0) {
    mutex.lockSync()
    enterOnce(seen)
    count++
    mutex.unlock()
  }
  say(count)`

/** As 30 tasks that await. */
const awaiting = `
  say('ready')
  let count = 0
  const ways = [
    async () => {
      const release = await mutex.acquire()
      enterOnce(seen)
      release()
    },
    async () => {
      await mutex.lock()
      enterOnce(seen)
      mutex.unlock()
    },
    () => mutex.runExclusive(() => enterOnce(seen)),
  ]
  const task = async (way) => {
    while (Atomics.load(seen, ${stop}) === 0) {
      await way()
      count++
      if (count % 16 === 0) await new Promise(setImmediate)
    }
  }
  Promise.all(Array.from({ length: 30 }, (_, i) => task(ways[i % 3]))).then(() => say(count))`

/** Holds it for moments, with a timeout of its own. */
const racing = `
  say('ready')
  let late = 0
  const pause = () => Math.floor(Math.random() * 300)
  while (Atomics.load(seen, ${stop}) === 0) {
    try {
      mutex.lockSync({ timeout: workerData.timeout })
    } catch (error) {
      if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
      late++
      continue
    }
    enterOnce(seen)
    for (let i = pause() * 100; i > 0; i--);
    mutex.unlock()
    for (let i = pause(); i > 0; i--);
  }
  say(late)`

/** For a child process: a worker holds `mutex`, without keeping the process alive, until letGo(). */
const heldByWorker = `
  const mutex = new Mutex({ shared: true })
  const go = new Int32Array(new SharedArrayBuffer(4))
  const letGo = () => {
    Atomics.store(go, 0, 1)
    Atomics.notify(go, 0)
  }
  const worker = new Worker(\`
    const { parentPort, workerData } = require('node:worker_threads')
    const { Mutex } = require(\${JSON.stringify(entry)})
    const { buffer, go } = workerData
    const mutex = new Mutex({ buffer })
    mutex.lockSync()
    parentPort.postMessage('held')
    Atomics.wait(go, 0, 0)
    mutex.unlock()\`, { eval: true, workerData: { buffer: mutex.buffer, go } })
  await require('node:events').once(worker, 'message')
  worker.unref()
  process.on('exit', () => show('exit'))
`

/** Each resolves, once admitted, to the function that releases. */
const waysIn = {
  acquire: async (mutex) => (await mutex.acquire()).release,
  lock: async (mutex) => {
    await mutex.lock()
    return () => mutex.unlock()
  },
  runExclusive: (mutex) =>
    new Promise((resolve) => {
      mutex.runExclusive(() => new Promise((done) => resolve(done)))
    }),
}

/** Checks that nothing is left of the test. */
async function assertFree(mutex) {
  assert.equal(mutex.isLocked(), false)
  assert.ok(mutex.tryLock())
  mutex.unlock()
  await mutex.lock({ timeout: 1000 })
  mutex.unlock()
}

module.exports = {
  assertFree,
  awaiting,
  blocking,
  broken,
  enterOnce,
  entries,
  heldByWorker,
  inside,
  racing,
  stop,
  waysIn,
  workerHead,
}
