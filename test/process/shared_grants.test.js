'use strict'
// A mutex whose word moves to shared memory, and its holder meanwhile and after.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const path = require('node:path')
const { Mutex } = require('../..')
const { exitOf, startWorker } = require('../helpers/workers.js')

/** A worker that ends while it holds `mutex`. */
async function dieWith(mutex) {
  const worker = startWorker('new Mutex({ buffer: workerData }).lockSync()', mutex.buffer)
  await exitOf(worker)
}

describe('a Mutex in shared memory', () => {
  it('is freed by its releaser', async () => {
    const mutex = new Mutex({ shared: true })
    ;(await mutex.acquire())()
    const release = await mutex.acquire()
    release()
    assert.equal(mutex.isLocked(), false)
  })

  it('is not freed by a stale releaser', async () => {
    const mutex = new Mutex({ shared: true })
    const stale = await mutex.acquire()
    stale()
    await mutex.acquire()
    stale()
    assert.equal(mutex.isLocked(), true)
  })

  it('is freed at the end of runExclusive', async () => {
    const mutex = new Mutex({ shared: true })
    ;(await mutex.acquire())()
    await mutex.runExclusive(async () => assert.ok(mutex.isLocked()))
    assert.equal(mutex.isLocked(), false)
  })

  it('resolves callers of waitForUnlock', async () => {
    const mutex = new Mutex({ shared: true })
    mutex.tryLock()
    const told = mutex.waitForUnlock()
    const worker = startWorker(
      'const mutex = new Mutex({ buffer: workerData }); mutex.lockSync(); mutex.unlock()',
      mutex.buffer,
    )
    mutex.unlock()
    await told
    await exitOf(worker)
  })
})

describe('waitForUnlock of a shared Mutex', () => {
  function shared() {
    const mutex = new Mutex({ shared: true })
    return mutex
  }

  it('takes nothing from a free mutex', async () => {
    const mutex = shared()
    const told = mutex.waitForUnlock()
    const release = mutex.tryAcquire()
    assert.ok(release)
    await told
    assert.equal(mutex.isLocked(), true)
    release()
  })

  it('is not affected by cancel', async () => {
    const mutex = shared()
    mutex.tryLock()
    const told = mutex.waitForUnlock({ priority: 1 })
    const cancelled = assert.rejects(mutex.acquire(), { code: 'ERR_LOCK_CANCELED' })
    mutex.cancel()
    await cancelled
    mutex.unlock()
    await told
    assert.equal(mutex.isLocked(), false)
  })

  it('leaves the report of a death to the next holder', async () => {
    const mutex = shared()
    const worker = startWorker(
      `new Mutex({ buffer: workerData }).lockSync()
       parentPort.postMessage('locked')
       parentPort.once('message', () => process.exit(0))`,
      mutex.buffer,
    )
    await once(worker, 'message')
    const told = mutex.waitForUnlock()
    worker.postMessage('die')
    await told
    assert.equal((await mutex.acquire()).abandoned, true)
    await exitOf(worker)
  })
})

describe('a Mutex whose holder has died', () => {
  it('reports it to tryAcquire, once', async () => {
    const mutex = new Mutex({ shared: true })
    await dieWith(mutex)
    const release = mutex.tryAcquire()
    assert.equal(release.abandoned, true)
    release()
    assert.equal((await mutex.acquire()).abandoned, false)
  })

  it('is handed on, even if no object for it is left', async () => {
    const mutex = new Mutex({ shared: true })
    const worker = startWorker(
      `require('node:v8').setFlagsFromString('--expose-gc')
       const sweep = require('node:vm').runInNewContext('gc')
       new Mutex({ buffer: workerData }).tryLock()
       const probe = new WeakRef({})
       const collect = () => {
         sweep()
         if (probe.deref()) setImmediate(collect)
         else setImmediate(() => process.exit(0))
       }
       setImmediate(collect)`,
      mutex.buffer,
    )
    await exitOf(worker)
    assert.equal((await mutex.acquire()).abandoned, true)
  })
})

describe('lockSync', () => {
  it('does not wait behind a promise of its own thread', async () => {
    const mutex = new Mutex({ shared: true })
    mutex.tryLock()
    const worker = startWorker(
      `const mutex = new Mutex({ buffer: workerData })
       const pending = mutex.acquire()
       try { mutex.lockSync() } catch (error) { parentPort.postMessage(error.code) }
       pending.then((release) => release())`,
      mutex.buffer,
    )
    assert.deepEqual(await once(worker, 'message'), ['ERR_LOCK_DEADLOCK'])
    mutex.unlock()
    await exitOf(worker)
    assert.equal(mutex.isLocked(), false)
  })
})

describe('the package evaluated twice, as test runners do', () => {
  const lib = path.join(__dirname, '..', '..', 'lib')

  it('works in both copies, and between them', async () => {
    const files = Object.keys(require.cache).filter((file) => file.startsWith(lib))
    const kept = Object.fromEntries(files.map((file) => [file, require.cache[file]]))
    // A copy loads its files when they are first used.
    const ours = new Mutex({ shared: true })
    for (const file of files) delete require.cache[file]
    try {
      const copy = require('../..')
      assert.notEqual(copy.Mutex, Mutex)
      const theirs = new copy.Mutex({ buffer: ours.buffer })
      const release = await ours.acquire()
      assert.equal(theirs.tryAcquire(), undefined)
      const waiting = theirs.acquire()
      release()
      ;(await waiting)()
    } finally {
      Object.assign(require.cache, kept)
    }
    assert.equal(ours.isLocked(), false)
  })
})
