'use strict'
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { Mutex } = require('../..')
const { exitOf, ready, startWorker } = require('../helpers/workers.js')

const blocking = { allowBlockingMainThread: true }
const kLine = 1 // the bit of the word that is set while a waiter is queued

describe('Arguments of a Mutex', () => {
  for (const bad of [null, 0, '', 'buffer', 4n, Symbol('s'), {}, [], new ArrayBuffer(4)]) {
    it(`wants a SharedArrayBuffer, not ${typeof bad} ${Object.prototype.toString.call(bad)}`, () => {
      assert.throws(() => new Mutex({ buffer: bad }), { name: 'TypeError', message: /^buffer/ })
    })
  }

  it('recognizes imitations of a SharedArrayBuffer', () => {
    const buffer = new SharedArrayBuffer(4)
    const fakes = [
      new Int32Array(buffer),
      new DataView(buffer),
      Object.create(SharedArrayBuffer.prototype),
      new Proxy(buffer, {}),
    ]
    for (const fake of fakes) assert.throws(() => new Mutex({ buffer: fake }), TypeError)
    // The array's constructor checks again.
    Object.defineProperty(buffer, 'byteLength', { value: 1000 })
    assert.throws(() => new Mutex({ buffer, byteOffset: 400 }), RangeError)
  })

  for (const bad of [
    Number.NaN,
    -1,
    -4,
    1,
    2,
    3,
    0.5,
    4.5,
    8,
    2 ** 32,
    1e300,
    Infinity,
    -Infinity,
  ]) {
    it(`wants an aligned byteOffset within the buffer, not ${bad}`, () => {
      const buffer = new SharedArrayBuffer(8)
      assert.throws(() => new Mutex({ buffer, byteOffset: bad }), {
        name: 'RangeError',
        message: /^byteOffset/,
      })
    })
  }

  for (const size of [0, 1, 3]) {
    it(`has no room in ${size} bytes`, () => {
      assert.throws(() => new Mutex({ buffer: new SharedArrayBuffer(size) }), {
        name: 'RangeError',
        message: /^buffer/,
      })
    })
  }

  it('does not reach beyond the end of a buffer of odd length', () => {
    const buffer = new SharedArrayBuffer(7)
    assert.equal(new Mutex({ buffer }).tryLock(), true)
    assert.throws(() => new Mutex({ buffer, byteOffset: 4 }), RangeError)
  })

  for (const bad of ['4', null, {}, 1n, true, [4], Symbol('4')]) {
    it(`wants numbers, not ${typeof bad} ${String(bad)}`, () => {
      const buffer = new SharedArrayBuffer(8)
      assert.throws(() => new Mutex({ buffer, byteOffset: bad }), TypeError)
      const mutex = new Mutex(blocking)
      assert.throws(() => mutex.lockSync({ timeout: bad }), {
        name: 'TypeError',
        message: /^timeout/,
      })
      assert.equal(mutex.isLocked(), false)
    })
  }

  for (const bad of [Number.NaN, -1, -Number.MIN_VALUE, -Infinity]) {
    it(`wants timeouts of 0 ms or more, not ${bad}`, () => {
      const mutex = new Mutex(blocking)
      assert.throws(() => mutex.lockSync({ timeout: bad }), {
        name: 'RangeError',
        message: /^timeout/,
      })
      assert.equal(mutex.isLocked(), false)
    })
  }

  for (const bad of [null, 'options', 7, true, () => {}]) {
    it(`wants options to be an object, not ${bad}`, () => {
      assert.throws(() => new Mutex(bad), TypeError)
      assert.throws(() => new Mutex(blocking).lockSync(bad), TypeError)
    })
  }

  it('wants allowBlockingMainThread to be a boolean', () => {
    for (const bad of [1, 'yes', null]) {
      assert.throws(() => new Mutex({ allowBlockingMainThread: bad }), TypeError)
    }
  })

  it('passes on errors of getters, and does not change', () => {
    const thrown = new Error('from the getter')
    const trap = (name, others) =>
      Object.defineProperty({ ...others }, name, {
        get() {
          throw thrown
        },
      })
    for (const name of ['buffer', 'byteOffset', 'allowBlockingMainThread']) {
      assert.throws(() => new Mutex(trap(name, blocking)), thrown)
    }
    const mutex = new Mutex(blocking)
    assert.throws(() => mutex.lockSync(trap('timeout')), thrown)
    assert.equal(mutex.isLocked(), false)
  })

  it('is the receiver in every call', () => {
    for (const method of ['lockSync', 'tryLock', 'unlock', 'isLocked']) {
      assert.throws(() => Mutex.prototype[method].call({}), TypeError)
    }
    assert.throws(() => Mutex.prototype.buffer, TypeError)
    assert.throws(() => Mutex.prototype.byteOffset, TypeError)
    assert.throws(() => Mutex(), TypeError)
  })
})

describe('a Mutex in a buffer that other code overwrites', () => {
  it('keeps a queue bit, even if no waiter has set it', () => {
    const mutex = new Mutex({ ...blocking, shared: true })
    const words = new Int32Array(mutex.buffer)
    for (const lock of [() => assert.ok(mutex.tryLock()), () => mutex.lockSync()]) {
      Atomics.store(words, 0, kLine)
      assert.equal(mutex.isLocked(), false)
      lock()
      assert.equal(mutex.isLocked(), true)
      mutex.unlock()
      assert.equal(Atomics.load(words, 0), 0)
    }
  })

  it('answers or throws, whatever the word is', () => {
    const codes = ['ERR_LOCK_NOT_HELD', 'ERR_LOCK_TIMEOUT', 'ERR_LOCK_DEADLOCK']
    const methods = ['tryLock', 'unlock', 'isLocked', 'lockSync']
    const word = fc.oneof(fc.integer({ min: 0, max: 64 }), fc.integer())
    const steps = fc.array(fc.oneof(word, fc.constantFrom(...methods)), { maxLength: 20 })
    fc.assert(
      fc.property(steps, (todo) => {
        const mutex = new Mutex({ ...blocking, shared: true })
        const words = new Int32Array(mutex.buffer)
        for (const step of todo) {
          if (typeof step === 'number') {
            Atomics.store(words, 0, step)
            continue
          }
          try {
            mutex[step]({ timeout: 0 })
          } catch (error) {
            assert.ok(codes.includes(error.code), error)
          }
        }
      }),
    )
  })

  it('gives up after its timeout while the word changes', async function () {
    this.timeout(120_000)
    const buffer = new SharedArrayBuffer(8)
    const words = new Int32Array(buffer)
    const stop = 1
    const workers = Array.from({ length: 2 }, () =>
      startWorker(
        `
        const mutex = new Mutex({ buffer: workerData })
        const words = new Int32Array(workerData)
        const codes = ['ERR_LOCK_NOT_HELD', 'ERR_LOCK_TIMEOUT', 'ERR_LOCK_DEADLOCK']
        const attempt = (what) => {
          try {
            what()
          } catch (error) {
            if (!codes.includes(error.code)) throw error
          }
        }
        parentPort.postMessage('ready')
        while (!Atomics.load(words, ${stop})) {
          attempt(() => mutex.lockSync({ timeout: 0.1 }))
          attempt(() => mutex.unlock())
        }
      `,
        buffer,
      ),
    )
    const exits = Promise.all(workers.map(exitOf))
    await ready(workers)
    const end = performance.now() + 500
    while (performance.now() < end) {
      Atomics.store(words, 0, Math.random() < 0.5 ? Math.random() * 64 : Math.random() * 2 ** 32)
    }
    Atomics.store(words, stop, 1)
    await exits
  })
})
