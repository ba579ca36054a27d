'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const { Worker } = require('node:worker_threads')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Semaphore } = require('../..')
const { useHosts } = require('../helpers/hosts.js')
const { freshName, within } = require('../helpers/agents.js')
const { scaled } = require('../helpers/scale.js')
const { itOnPosix } = require('../helpers/skip.js')

const entry = require.resolve('../..')

/** A worker that waits for locks, holds them, and blocks for them, until it is terminated. */
const body = `
  const { parentPort, workerData: { name, directory, seed } } = require('node:worker_threads')
  const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = require(${JSON.stringify(entry)})
  const options = { scope: 'host', name, directory }
  const mutexes = new KeyedMutex({ ...options, capacity: 16 })
  const semaphores = new KeyedSemaphore(2, { ...options, capacity: 16 })
  const rwLocks = new KeyedRWLock({ ...options, capacity: 16 })
  let next = seed
  const random = (n) => (next = (next * 48271) % 2147483647) % n
  const turn = () => new Promise(setImmediate)
  const ways = [
    (key) => mutexes.runExclusive(key, turn),
    (key) => mutexes.runExclusiveSync(key, () => {}, { timeout: 1000 }),
    (key) => semaphores.runExclusive(key, turn, 1 + random(2)),
    (key) => semaphores.runExclusiveSync(key, () => {}, 1, { timeout: 1000 }),
    (key) => rwLocks.runShared(key, turn),
    (key) => rwLocks.runExclusive(key, turn),
  ]
  const loop = async () => {
    for (;;) {
      try {
        await ways[random(ways.length)](random(3))
      } catch (error) {
if (error.code !== 'ERR_LOCK_TIMEOUT' && error.code !== 'ERR_LOCK_DEADLOCK') throw error
      }
    }
  }
  loop()
  loop()
  loop()
  parentPort.postMessage('begun')`

describe('Terminated workers with locks of scope host', function () {
  this.timeout(60_000)
  const hosts = useHosts()

  it('leave nothing locked, and nothing pinned', async () => {
    const name = freshName()
    const { directory } = hosts
    const options = { scope: 'host', name, directory }
    const churn = `
      const { once } = require('node:events')
      const { Worker } = require('node:worker_threads')
      const one = async (seed) => {
        const workerData = { name: ${JSON.stringify(name)}, directory: ${JSON.stringify(directory)}, seed }
        const worker = new Worker(${JSON.stringify(body)}, { eval: true, workerData })
        const ended = once(worker, 'exit')
        await Promise.race([once(worker, 'message'), ended])
        for (let i = seed % 50; i > 0; i--) await turn()
        await worker.terminate()
        await ended
      }
      for (let i = 1; i <= ${scaled(6, 2)}; i++) await Promise.all([one(37 * i), one(101 * i)])`
    const host = hosts.start()
    const mutexes = new KeyedMutex({ ...options, capacity: 16 })
    const semaphores = new KeyedSemaphore(2, { ...options, capacity: 16 })
    const rwLocks = new KeyedRWLock({ ...options, capacity: 16 })
    const there = host.does(churn)
    const worker = new Worker(body, { eval: true, workerData: { name, directory, seed: 5 } })
    const ended = once(worker, 'exit')
    await within(50_000, there)
    await worker.terminate()
    await ended
    for (const key of [0, 1, 2]) {
      const all = [mutexes.acquire(key), semaphores.acquire(key, 2), rwLocks.acquireWrite(key)]
      const [mutex, [, semaphore], rwLock] = await within(30_000, Promise.all(all))
      mutex()
      semaphore()
      rwLock()
      assert.equal(semaphores.getValue(key), 2)
    }
    for (const locks of [mutexes, semaphores, rwLocks]) assert.equal(locks.size, 0)
    // All maps have room for their capacity again: no dead worker has left a pin.
    for (let i = 0; i < 16; i++) assert.ok(mutexes.tryLock(`key ${i}`))
    assert.equal(mutexes.size, 16)
    for (const key of mutexes.keys()) mutexes.unlock(key)
  })

  it('do not put back a unit that another thread of their process has released for them', async () => {
    const options = { scope: 'host', name: freshName(), directory: hosts.directory }
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { Semaphore } = require(${JSON.stringify(entry)})
      new Semaphore(1, workerData).acquire().then(() => parentPort.postMessage('held'))
      parentPort.on('message', () => {})`
    const worker = new Worker(code, { eval: true, workerData: options })
    await once(worker, 'message')
    const semaphore = new Semaphore(1, options)
    semaphore.release()
    const [, release] = await semaphore.acquire()
    await worker.terminate()
    assert.equal(semaphore.tryAcquire(), undefined)
    release()
    assert.equal(semaphore.getValue(), 1)
  })

  itOnPosix('map a file once, however many start and end', async () => {
    const { directory } = hosts
    const name = freshName()
    const code = `
      const { Mutex } = require(${JSON.stringify(entry)})
      const { name, directory } = require('node:worker_threads').workerData
      new Mutex({ scope: 'host', name, directory }).tryAcquire()()`
    for (let i = 0; i < 3; i++) {
      await once(new Worker(code, { eval: true, workerData: { name, directory } }), 'exit')
    }
    const maps = fs.readFileSync('/proc/self/maps', 'utf8').split('\n')
    const file = `mutex.${encodeURIComponent(name)}.lock`
    assert.equal(maps.filter((line) => line.endsWith(`/${file}`)).length, 1)
  })
})
