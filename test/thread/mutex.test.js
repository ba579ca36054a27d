'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const vm = require('node:vm')
const fc = require('fast-check')
const { Mutex } = require('../..')
const { exitOf, ready, startWorker } = require('../helpers/workers.js')

const blocking = { allowBlockingMainThread: true }
const kLine = 1 // the bit of the word that is set while a waiter is queued

function wordOf(mutex) {
  return Atomics.load(new Int32Array(mutex.buffer, mutex.byteOffset, 1), 0)
}

describe('Mutex', () => {
  it('has one holder at a time', () => {
    const mutex = new Mutex()
    assert.equal(mutex.isLocked(), false)
    assert.equal(mutex.tryLock(), true)
    assert.equal(mutex.isLocked(), true)
    assert.equal(mutex.tryLock(), false)
    mutex.unlock()
    assert.equal(mutex.isLocked(), false)
    assert.equal(mutex.tryLock(), true)
  })

  it('of one thread has no buffer, and the error says how to get one', () => {
    const mutex = new Mutex()
    const message =
      'the mutex has no buffer: construct it with { shared: true } to share it with other threads'
    assert.throws(() => mutex.buffer, { name: 'TypeError', message })
    assert.throws(() => mutex.byteOffset, { name: 'TypeError', message })
    assert.throws(() => new Mutex({ shared: 1 }), { name: 'TypeError', message: /^shared/ })
  })

  it('behaves like a set of the locked mutexes', () => {
    const mutexes = 4
    const step = fc.record({
      method: fc.constantFrom('tryLock', 'unlock', 'isLocked', 'lockSync'),
      which: fc.nat(mutexes - 1),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const buffer = new SharedArrayBuffer(4 * mutexes)
        const all = Array.from(
          { length: mutexes },
          (_, i) => new Mutex({ buffer, byteOffset: 4 * i, ...blocking }),
        )
        const locked = new Set()
        for (const { method, which } of steps) {
          const mutex = all[which]
          const held = locked.has(which)
          if (method === 'isLocked') {
            assert.equal(mutex.isLocked(), held)
          } else if (method === 'tryLock') {
            assert.equal(mutex.tryLock(), !held)
            locked.add(which)
          } else if (method === 'lockSync') {
            if (held) assert.throws(() => mutex.lockSync(), { code: 'ERR_LOCK_DEADLOCK' })
            else mutex.lockSync()
            locked.add(which)
          } else {
            if (held) mutex.unlock()
            else assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
            locked.delete(which)
          }
        }
        all.forEach((mutex, i) => {
          assert.equal(mutex.isLocked(), locked.has(i))
        })
      }),
    )
  })

  it('makes its own buffer, or lies in a given one', () => {
    const own = new Mutex({ shared: true })
    assert.ok(own.buffer instanceof SharedArrayBuffer)
    assert.equal(own.buffer.byteLength, 4)
    assert.equal(own.byteOffset, 0)
    assert.notEqual(new Mutex({ shared: true }).buffer, own.buffer)

    const buffer = new SharedArrayBuffer(12)
    const mutex = new Mutex({ buffer, byteOffset: 8 })
    assert.equal(mutex.buffer, buffer)
    assert.equal(mutex.byteOffset, 8)
    assert.equal(new Mutex({ buffer: undefined, shared: true }).byteOffset, 0)
  })

  it('is one mutex in one place, and different mutexes in different places', () => {
    const buffer = new SharedArrayBuffer(8)
    const first = new Mutex({ buffer })
    const again = new Mutex({ buffer })
    const second = new Mutex({ buffer, byteOffset: 4 })
    assert.equal(first.tryLock(), true)
    assert.equal(again.tryLock(), false)
    assert.equal(second.tryLock(), true)
    again.unlock()
    assert.equal(first.isLocked(), false)
    assert.equal(second.isLocked(), true)
  })

  it('takes a SharedArrayBuffer of another realm, of WebAssembly, and one that grows', () => {
    const { buffer: ofWebAssembly } = new WebAssembly.Memory({
      initial: 1,
      maximum: 2,
      shared: true,
    })
    const growing = new SharedArrayBuffer(4, { maxByteLength: 1 << 20 })
    const buffers = [vm.runInNewContext('new SharedArrayBuffer(4)'), ofWebAssembly, growing]
    for (const buffer of buffers) assert.equal(new Mutex({ buffer }).tryLock(), true)
    growing.grow(1 << 20)
    const mutex = new Mutex({ buffer: growing })
    assert.equal(mutex.isLocked(), true)
    mutex.unlock()
  })

  it('is unlocked by its holder only', async () => {
    const mutex = new Mutex({ shared: true })
    const notHeld = { name: 'Error', code: 'ERR_LOCK_NOT_HELD' }
    assert.throws(() => mutex.unlock(), notHeld)
    mutex.tryLock()

    const worker = startWorker(
      `
      const mutex = new Mutex({ buffer: workerData })
      try {
        mutex.unlock()
      } catch ({ code }) {
        parentPort.postMessage([code, mutex.isLocked(), mutex.tryLock()])
      }
    `,
      mutex.buffer,
    )
    assert.deepEqual(await once(worker, 'message'), [['ERR_LOCK_NOT_HELD', true, false]])
    await exitOf(worker)

    mutex.unlock()
    assert.throws(() => mutex.unlock(), notHeld)
  })

  it('refuses to wait for itself', async () => {
    const mutex = new Mutex({ ...blocking, shared: true })
    mutex.lockSync()
    const deadlock = { name: 'Error', code: 'ERR_LOCK_DEADLOCK' }
    assert.throws(() => mutex.lockSync(), deadlock)
    assert.throws(() => mutex.lockSync({ timeout: 0 }), deadlock)
    assert.throws(() => new Mutex({ ...blocking, buffer: mutex.buffer }).lockSync(), deadlock)
    assert.equal(mutex.isLocked(), true)
    mutex.unlock()
    mutex.lockSync()
    mutex.unlock()

    // A holder in another thread is no deadlock: that thread may unlock.
    const worker = startWorker(
      `
      const mutex = new Mutex({ buffer: workerData })
      mutex.lockSync()
      parentPort.postMessage('locked')
      parentPort.once('message', () => mutex.unlock())
    `,
      mutex.buffer,
    )
    await once(worker, 'message')
    assert.throws(() => mutex.lockSync({ timeout: 1 }), { code: 'ERR_LOCK_TIMEOUT' })
    worker.postMessage('unlock')
    mutex.lockSync()
    mutex.unlock()
    await exitOf(worker)
  })

  it('is handed to a waiting worker', async () => {
    const mutex = new Mutex({ shared: true })
    mutex.tryLock()
    const worker = startWorker(`
      parentPort.once('message', (buffer) => {
        const mutex = new Mutex({ buffer })
        parentPort.postMessage('waiting')
        mutex.lockSync()
        parentPort.postMessage('locked')
        mutex.unlock()
      })
    `)
    worker.postMessage(mutex.buffer)
    assert.deepEqual(await once(worker, 'message'), ['waiting'])
    const waits = performance.now() + 5000
    while (!(wordOf(mutex) & kLine)) assert.ok(performance.now() < waits, 'it never waited')
    const answer = once(worker, 'message')
    mutex.unlock()
    assert.deepEqual(await answer, ['locked'])
    await exitOf(worker)
    assert.equal(wordOf(mutex), 0)
  })

  it('keeps the main thread and three workers apart', async function () {
    this.timeout(120_000)
    const rounds = 50_000
    const buffer = new SharedArrayBuffer(16)
    // Plain reads and writes: without the mutex, increments get lost.
    const [, go, counter, inside] = [0, 1, 2, 3]
    const words = new Int32Array(buffer)
    const section = `
      if (words[${inside}] !== 0) throw new Error('oracle: two threads in one critical section')
      words[${inside}] = 1
      words[${counter}] += 1
      words[${inside}] = 0
    `
    const workers = Array.from({ length: 3 }, () =>
      startWorker(
        `
        const mutex = new Mutex({ buffer: workerData })
        const words = new Int32Array(workerData)
        const section = new Function('words', ${JSON.stringify(section)})
        parentPort.postMessage('ready')
        Atomics.wait(words, ${go}, 0)
        for (let i = 0; i < ${rounds}; ++i) {
          mutex.lockSync()
          section(words)
          mutex.unlock()
        }
      `,
        buffer,
      ),
    )
    const exits = Promise.all(workers.map(exitOf))
    await ready(workers)
    Atomics.store(words, go, 1)
    Atomics.notify(words, go)

    const mutex = new Mutex({ buffer, ...blocking })
    const run = new Function('words', section)
    for (let i = 0; i < rounds; ++i) {
      if (!mutex.tryLock()) mutex.lockSync()
      run(words)
      mutex.unlock()
    }
    await exits
    assert.equal(words[counter], 4 * rounds)
    assert.equal(wordOf(mutex), 0)
  })

  it('settles a timeout that races with an unlock', async function () {
    this.timeout(120_000)
    const buffer = new SharedArrayBuffer(16)
    const words = new Int32Array(buffer)
    const [stop, counter, lates] = [1, 2, 3]
    const workers = Array.from({ length: 2 }, () =>
      startWorker(
        `
        const mutex = new Mutex({ buffer: workerData })
        const words = new Int32Array(workerData)
        let locked = 0, late = 0
        parentPort.postMessage('ready')
        while (!Atomics.load(words, ${stop})) {
          try {
            mutex.lockSync({ timeout: Math.random() * 0.2 })
          } catch (error) {
            if (error.code !== 'ERR_LOCK_TIMEOUT') throw error
            ++late
            Atomics.store(words, ${lates}, 1)
            continue
          }
          words[${counter}] += 1
          ++locked
          mutex.unlock()
        }
        parentPort.postMessage({ locked, late })
      `,
        buffer,
      ),
    )
    const exits = Promise.all(workers.map(exitOf))
    await ready(workers)
    const answers = ready(workers)

    const mutex = new Mutex({ buffer, ...blocking })
    let mine = 0
    const end = performance.now() + 1000
    while (performance.now() < end) {
      mutex.lockSync()
      words[counter] += 1
      ++mine
      const until = performance.now() + Math.random() * 0.2
      // This thread holds it until a timeout has run out: no other thread has the lock.
      while (performance.now() < until || Atomics.load(words, lates) === 0);
      mutex.unlock()
    }
    Atomics.store(words, stop, 1)
    const [[a], [b]] = await answers
    await exits
    assert.ok(a.late + b.late > 0, 'no timeout was met')
    assert.equal(words[counter], mine + a.locked + b.locked)
    assert.equal(wordOf(mutex), 0, 'it is free and has no waiter')
  })

  it('gives up after its timeout, and not before', async () => {
    const mutex = new Mutex({ ...blocking, shared: true })
    const worker = startWorker(
      `
      const mutex = new Mutex({ buffer: workerData })
      mutex.lockSync()
      parentPort.postMessage('locked')
      parentPort.once('message', () => mutex.unlock())
    `,
      mutex.buffer,
    )
    await once(worker, 'message')
    const start = performance.now()
    assert.throws(() => mutex.lockSync({ timeout: 30 }), {
      name: 'Error',
      code: 'ERR_LOCK_TIMEOUT',
      message: /30 ms/,
    })
    assert.ok(performance.now() - start >= 30)
    assert.throws(() => mutex.lockSync({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.throws(() => mutex.lockSync({ timeout: 0.5 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.equal(mutex.tryLock(), false)
    worker.postMessage('unlock')
    mutex.lockSync({ timeout: 1e300 })
    mutex.unlock()
    for (const timeout of [undefined, 0, 0.5, 2 ** 53, Infinity]) {
      mutex.lockSync({ timeout })
      mutex.unlock()
    }
    await exitOf(worker)
  })

  it('blocks the main thread only if that is allowed', () => {
    const mutex = new Mutex()
    assert.throws(() => mutex.lockSync(), { name: 'TypeError', message: /main thread/ })
    assert.throws(() => mutex.lockSync({ timeout: 0 }), TypeError)
    assert.equal(mutex.isLocked(), false)
    assert.equal(mutex.tryLock(), true)
  })
})
