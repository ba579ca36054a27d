'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fc = require('fast-check')
const { Semaphore } = require('..')
const { startWorker } = require('./helpers/workers.js')

const kMax = 2 ** 31 - 1
const blocking = { allowBlockingMainThread: true }

describe('Semaphore', () => {
  it('counts', () => {
    const semaphore = new Semaphore(2)
    assert.equal(semaphore.tryWait(), true)
    assert.equal(semaphore.tryWait(), true)
    assert.equal(semaphore.tryWait(), false)
    semaphore.signal()
    assert.equal(semaphore.tryWait(), true)
    semaphore.signal(0)
    assert.equal(semaphore.tryWait(), false)
  })

  it('gives back exactly what was put in', () => {
    const steps = fc.array(fc.oneof(fc.nat(5), fc.constant('take')))
    fc.assert(
      fc.property(fc.nat(5), steps, (initial, todo) => {
        const semaphore = new Semaphore(initial)
        let count = initial
        for (const step of todo) {
          if (step === 'take') {
            assert.equal(semaphore.tryWait(), count > 0)
            count = Math.max(0, count - 1)
          } else {
            semaphore.signal(step)
            count += step
          }
        }
        for (; count > 0; --count) assert.equal(semaphore.tryWait(), true)
        assert.equal(semaphore.tryWait(), false)
      }),
    )
  })

  it('waits until a worker is signalled', async () => {
    const semaphore = new Semaphore(0, { name: 'gate' })
    const worker = startWorker(`
      const semaphore = new Semaphore(0, { name: 'gate' })
      parentPort.postMessage('waiting')
      parentPort.postMessage(semaphore.wait())
    `)
    assert.deepEqual(await once(worker, 'message'), ['waiting'])
    const answer = once(worker, 'message')
    semaphore.signal()
    assert.deepEqual(await answer, [true])
    await once(worker, 'exit')
    assert.equal(semaphore.tryWait(), false)
  })

  it('keeps semaphores of different names, and nameless ones, apart', () => {
    const a = new Semaphore(1, { name: 'a' })
    const b = new Semaphore(0, { name: 'b' })
    const nameless = new Semaphore(0)
    assert.equal(b.tryWait(), false)
    assert.equal(nameless.tryWait(), false)
    assert.equal(new Semaphore(0, { name: 'a' }).tryWait(), true)
    assert.equal(a.tryWait(), false)
  })

  it('gives up after its timeout, and not before', () => {
    const semaphore = new Semaphore(0, blocking)
    const start = process.hrtime.bigint()
    assert.equal(semaphore.wait(30), false)
    assert.ok(process.hrtime.bigint() - start >= 30_000_000n)
    semaphore.signal()
    assert.equal(semaphore.wait(kMax), true)
  })

  it('only looks when the timeout is 0', () => {
    const semaphore = new Semaphore(1, blocking)
    assert.equal(semaphore.wait(0), true)
    assert.equal(semaphore.wait(0), false)
  })

  it('does not block the main thread unless told to', () => {
    assert.throws(() => new Semaphore(1).wait(), { name: 'TypeError', message: /main thread/ })
    assert.throws(() => new Semaphore(1).wait(0), TypeError)
    assert.equal(new Semaphore(1, blocking).wait(), true)
  })

  for (const bad of ['1', null, {}, 1n, true, [], Symbol('1')]) {
    it(`wants numbers, not ${String(typeof bad)} ${String(bad)}`, () => {
      assert.throws(() => new Semaphore(bad), TypeError)
      assert.throws(() => new Semaphore(0).signal(bad), TypeError)
      assert.throws(() => new Semaphore(1, blocking).wait(bad), TypeError)
    })
  }

  for (const bad of [Number.NaN, -1, 0.5, kMax + 1, 1e300, Infinity, -Infinity]) {
    it(`wants integers from 0 to 2^31 - 1, not ${bad}`, () => {
      assert.throws(() => new Semaphore(bad), { name: 'RangeError', message: /^initial/ })
      assert.throws(() => new Semaphore(0).signal(bad), { name: 'RangeError', message: /^n / })
      assert.throws(() => new Semaphore(1, blocking).wait(bad), {
        name: 'RangeError',
        message: /^timeoutMs/,
      })
    })
  }

  it('wants options of the right types', () => {
    assert.throws(() => new Semaphore(0, null), TypeError)
    assert.throws(() => new Semaphore(0, 'gate'), TypeError)
    assert.throws(() => new Semaphore(0, { name: 7 }), TypeError)
    assert.throws(() => new Semaphore(0, { allowBlockingMainThread: 1 }), TypeError)
  })

  it('refuses to count above its maximum, and is then as it was', () => {
    const semaphore = new Semaphore(kMax)
    assert.throws(() => semaphore.signal(), RangeError)
    assert.equal(semaphore.tryWait(), true)
    semaphore.signal()
    assert.throws(() => semaphore.signal(), RangeError)
  })

  it('is itself in every call', () => {
    assert.throws(() => Semaphore.prototype.tryWait.call({}))
    assert.throws(() => Semaphore.prototype.wait.call({}))
  })
})
