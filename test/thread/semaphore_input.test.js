'use strict'
const assert = require('node:assert/strict')
const { KeyedSemaphore, Semaphore, withTimeout } = require('../..')
const { freshName } = require('../helpers/agents.js')
const { assertIdle, turn, watch } = require('../helpers/promises.js')

const max = 2 ** 29 - 1
const min = -(2 ** 29)

describe('Arguments of a Semaphore', () => {
  const weights = [0, -1, -0.5, -Infinity]
  const methods = ['acquire', 'release', 'waitForUnlock', 'tryAcquire']
  for (const weight of weights) {
    it(`refuses a weight of ${weight} with async-mutex's message`, async () => {
      const semaphore = new Semaphore(2)
      const message = `invalid weight ${weight}: must be positive`
      for (const method of methods) assert.throws(() => semaphore[method](weight), { message })
      assert.throws(() => semaphore.acquire({ weight }), { message })
      assert.throws(() => semaphore.waitForUnlock({ weight }), { message })
      await assert.rejects(semaphore.runExclusive(assert.fail, weight), { message })
      await assert.rejects(semaphore.executeLocked(assert.fail, { weight }), { message })
      assert.equal(semaphore.getValue(), 2)
      await assertIdle(semaphore)
    })
  }

  for (const bad of [
    Number.NaN,
    0.5,
    1.5,
    Infinity,
    2 ** 29,
    2 ** 32,
    1e300,
    '1',
    null,
    1n,
    true,
  ]) {
    it(`refuses ${typeof bad} ${bad} as a weight, and does not change`, async () => {
      const semaphore = new Semaphore(1)
      const [, release] = await semaphore.acquire()
      const error = { name: typeof bad === 'number' ? 'RangeError' : 'TypeError' }
      for (const state of ['held', 'free']) {
        if (state === 'free') release()
        for (const method of methods) assert.throws(() => semaphore[method](bad), error)
        assert.throws(() => semaphore.acquire({ weight: bad }), error)
        assert.throws(() => semaphore.waitForUnlock({ weight: bad }), error)
        await assert.rejects(semaphore.runExclusive(assert.fail, bad), error)
        await assert.rejects(semaphore.runExclusive(assert.fail, { weight: bad }), error)
      }
      assert.equal(semaphore.getValue(), 1)
      await assertIdle(semaphore)
    })
  }

  for (const bad of [
    Number.NaN,
    0.5,
    min - 1,
    max + 1,
    1e300,
    Infinity,
    '1',
    null,
    undefined,
    1n,
  ]) {
    it(`refuses ${typeof bad} ${bad} as a value`, () => {
      const error = {
        name: typeof bad === 'number' ? 'RangeError' : 'TypeError',
        message: /^value/,
      }
      assert.throws(() => new Semaphore(bad), error)
      const semaphore = new Semaphore(3)
      assert.throws(() => semaphore.setValue(bad), error)
      assert.equal(semaphore.getValue(), 3)
    })
  }

  for (const options of [{}, { timeout: 1000 }, { name: freshName() }]) {
    it(`refuses an argument after the options: ${Object.keys(options)}`, async () => {
      const semaphore = new Semaphore(2, { ...options, allowBlockingMainThread: true })
      const keyed = new KeyedSemaphore(2, { ...options, allowBlockingMainThread: true })
      const second = {
        name: 'TypeError',
        message: /^too many arguments: .* \{ weight, timeout \}$/,
      }
      for (const late of [{ timeout: 5 }, 1]) {
        for (const method of ['acquire', 'acquireSync', 'waitForUnlock'])
          assert.throws(() => semaphore[method]({ weight: 2 }, late), second)
        for (const method of ['runExclusive', 'executeLocked'])
          await assert.rejects(semaphore[method](assert.fail, { weight: 2 }, late), second)
      }
      const late = { timeout: 5 }
      for (const method of ['acquire', 'acquireSync', 'waitForUnlock'])
        assert.throws(() => keyed[method]('a', { weight: 2 }, late), second)
      await assert.rejects(keyed.acquire(['a', 'b'], { weight: 2 }, late), second)
      await assert.rejects(keyed.runExclusive('a', assert.fail, { weight: 2 }, late), second)
      const noNumber = { name: 'TypeError', message: 'weight must be a number, not an object' }
      await assert.rejects(semaphore.tryRunExclusive(assert.fail, { weight: 2 }), noNumber)
      await assert.rejects(keyed.tryRunExclusive('a', assert.fail, { weight: 2 }), noNumber)
      const decorated = withTimeout(semaphore, 1000)
      assert.throws(() => decorated.acquire({ weight: 2 }, late), second)
      assert.deepEqual([semaphore.getValue(), keyed.size], [2, 0])
      for (const limits of [late, 1]) {
        const [, release] = await semaphore.acquire(2, limits)
        release()
      }
    })
  }

  it('refuses invalid priorities and options', async () => {
    const semaphore = new Semaphore(1)
    for (const bad of [
      null,
      '1',
      Number.NaN,
      true,
      { priority: null },
      { timeout: -1 },
      { signal: 1 },
    ]) {
      assert.throws(() => semaphore.acquire(1, bad), Error)
      assert.throws(() => semaphore.waitForUnlock(1, bad), Error)
      await assert.rejects(semaphore.runExclusive(assert.fail, 1, bad), Error)
    }
    for (const bad of [null, 'error', 1]) assert.throws(() => new Semaphore(1, bad), TypeError)
    await assertIdle(semaphore)
  })

  it('counts from its least to its greatest value, and no further', async () => {
    const semaphore = new Semaphore(max)
    for (const weight of [1, max]) assert.throws(() => semaphore.release(weight), RangeError)
    assert.equal(semaphore.getValue(), max)
    const [value, release] = semaphore.tryAcquire(max)
    assert.deepEqual([value, semaphore.getValue()], [max, 0])
    semaphore.release()
    assert.throws(release, RangeError)
    semaphore.setValue(min)
    assert.equal(semaphore.getValue(), min)
    assert.equal(semaphore.isLocked(), true)
    assert.equal(new Semaphore(min).getValue(), min)
    const waiting = watch(semaphore.acquire(max))
    semaphore.setValue(max)
    await turn()
    assert.equal(waiting.value[0], max)
  })
})
