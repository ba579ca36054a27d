'use strict'
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { E_CANCELED, KeyedSemaphore } = require('../..')
const { apart, badKeys, busyIn, outcome, settled } = require('../helpers/keyed.js')

const unused = () => assert.fail('called')
const outOfRange = { code: 'ERR_LOCK_RANGE', name: 'RangeError' }
const failing = async (call) => await call()

describe('KeyedSemaphore', () => {
  let locks
  beforeEach(() => {
    locks = new KeyedSemaphore(3)
  })

  it('has a value for each key', async () => {
    assert.equal(locks.getValue('a'), 3)
    const [before, release] = await locks.acquire('a')
    assert.equal(before, 3)
    assert.equal(locks.getValue('a'), 2)
    assert.equal(locks.getValue('b'), 3)
    const [second, releaseTwo] = await locks.acquire('a', 2)
    assert.equal(second, 2)
    assert.ok(locks.isLocked('a'))
    assert.ok(!locks.isLocked('b'))
    const third = outcome(locks.acquire('a'))
    await settled()
    assert.equal(third.state, 'pending')
    assert.deepEqual(locks.snapshot(), [{ key: 'a', value: 0, waiting: 1 }])
    releaseTwo()
    await settled()
    assert.equal(third.value[0], 2)
    assert.equal(locks.getValue('a'), 1)
    release()
    third.value[1]()
    assert.equal(locks.size, 0)
  })

  it('refuses invalid values', () => {
    for (const value of [0, -1, 1.5, 2 ** 29, Infinity, NaN]) {
      assert.throws(() => new KeyedSemaphore(value), RangeError)
    }
    for (const value of [undefined, null, '1', 1n, {}]) {
      assert.throws(() => new KeyedSemaphore(value), TypeError)
    }
    assert.throws(() => new KeyedSemaphore(1, null), TypeError)
    assert.equal(new KeyedSemaphore(2 ** 29 - 1).getValue('a'), 2 ** 29 - 1)
  })

  it('distinguishes keys, and is idle again when all is released', () => {
    const grants = [...apart, ...apart].map((key) => locks.tryAcquire(key))
    assert.deepEqual(busyIn(locks), new Set(apart))
    assert.equal(locks.size, apart.length)
    for (const [i, [, release]] of grants.entries()) {
      release()
      const left = i < apart.length ? apart.length : 2 * apart.length - i - 1
      assert.equal(locks.size, left)
    }
    for (const key of apart) assert.equal(locks.getValue(key), 3)
  })

  for (const [name, key, expected] of badKeys) {
    it(`refuses ${name} as a key`, async () => {
      const calls = ['acquire', 'tryAcquire', 'release', 'waitForUnlock']
      for (const method of [...calls, 'isLocked', 'getValue', 'cancel']) {
        assert.throws(() => locks[method](key), expected, method)
      }
      await assert.rejects(locks.runExclusive(key, unused), expected)
      await assert.rejects(locks.executeLocked(key, unused), expected)
      assert.equal(locks.size, 0)
    })
  }

  it('refuses invalid weights, and weights above the value', async () => {
    for (const weight of [4, 2 ** 29, 0, -1, 1.5, NaN, Infinity]) {
      for (const method of ['acquire', 'tryAcquire', 'release', 'waitForUnlock']) {
        assert.throws(() => locks[method]('a', weight), RangeError, method)
      }
      assert.throws(() => locks.acquire('a', { weight }), RangeError)
      await assert.rejects(locks.runExclusive('a', unused, weight), RangeError)
    }
    assert.throws(() => locks.acquire('a', 4), { message: /weight 4 .* value 3/ })
    for (const weight of ['1', 1n, null]) {
      assert.throws(() => locks.acquire('a', weight), TypeError)
    }
    assert.throws(() => locks.acquire('a', 1, { timeout: -1 }), RangeError)
    assert.throws(() => locks.acquire('a', 1, null), TypeError)
    assert.equal(locks.size, 0)
    locks.tryAcquire('a', { weight: 3 })[1]()
  })

  it('refuses to release more than the value', () => {
    assert.throws(() => locks.release('a'), {
      ...outOfRange,
      message: /key "a" would pass its maximum of 3/,
    })
    locks.tryAcquire('a', 2)
    assert.throws(() => locks.release('a', 3), outOfRange)
    assert.equal(locks.getValue('a'), 1)
    locks.release('a')
    assert.equal(locks.getValue('a'), 2)
    assert.throws(() => locks.release('a', 2), outOfRange)
    locks.release('a')
    assert.equal(locks.size, 0)
    assert.throws(() => locks.release('a'), outOfRange)
  })

  it('releasers of a grant that was released by its key never have an effect', async () => {
    const [, stale] = await locks.acquire('a', 2)
    locks.release('a', 2)
    stale()
    assert.equal(locks.getValue('a'), 3)
    assert.equal(locks.size, 0)
    const [, older] = await locks.acquire('a')
    locks.release('a')
    for (let i = 0; i < 300; i++) locks.tryAcquire(i)[1]()
    const grants = Array.from({ length: 600 }, (_, i) => locks.tryAcquire(i, 2))
    older()
    for (const i of grants.keys()) assert.equal(locks.getValue(i), 1)
    for (const [, release] of grants) release()
    assert.equal(locks.size, 0)
  })

  it('admits by priority; the head blocks lighter waiters behind it', async () => {
    const [, release] = await locks.acquire('a', 2)
    const heavy = outcome(locks.acquire('a', 3))
    const light = outcome(locks.acquire('a', 1))
    const first = outcome(locks.acquire('a', 1, { priority: 5 }))
    await settled()
    assert.equal(first.state, 'fulfilled')
    assert.equal(first.value[0], 1)
    assert.equal(light.state, 'pending')
    release()
    first.value[1]()
    await settled()
    assert.equal(heavy.value[0], 3)
    assert.equal(light.state, 'pending')
    heavy.value[1]()
    await settled()
    light.value[1]()
    assert.equal(locks.size, 0)
  })

  it('waits with a timeout, a signal, and until cancelled, and names the key', async () => {
    locks.tryAcquire('a', 3)
    await assert.rejects(locks.acquire('a', 1, { timeout: 1 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message:
        'the semaphore of key "a" was not available within 1 ms; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it',
    })
    const reason = new Error('mine')
    const controller = new AbortController()
    const wait = locks.acquire('a', { signal: controller.signal, weight: 2 })
    controller.abort(reason)
    await assert.rejects(wait, reason)
    const cancelled = [locks.acquire('a'), locks.runExclusive('a', unused, 2)]
    for (const one of cancelled) outcome(one)
    locks.cancelAll()
    for (const one of cancelled) await assert.rejects(one, E_CANCELED)
    const own = locks.acquire('a')
    locks.cancel('b', reason)
    locks.cancel('a', reason)
    await assert.rejects(own, reason)
    assert.deepEqual(locks.snapshot(), [{ key: 'a', value: 0, waiting: 0 }])
    locks.release('a', 3)
    assert.equal(locks.size, 0)
    const mine = new KeyedSemaphore(1, reason)
    mine.tryAcquire('a')
    const last = mine.acquire('a')
    mine.cancel('a')
    await assert.rejects(last, reason)
  })

  it('admits the waiters behind a head that gives up', async () => {
    locks.tryAcquire('a')
    const controller = new AbortController()
    const heavy = outcome(locks.acquire('a', 3, { signal: controller.signal }))
    const light = outcome(locks.acquire('a', 2))
    controller.abort('mine')
    await settled()
    assert.equal(heavy.reason, 'mine')
    assert.equal(light.state, 'fulfilled')
  })

  it('waitForUnlock waits for a weight, and takes nothing', async () => {
    await locks.waitForUnlock('a', 3)
    locks.tryAcquire('a', 2)
    await locks.waitForUnlock('a')
    const all = outcome(locks.waitForUnlock('a', 3))
    const two = outcome(locks.waitForUnlock('a', { weight: 2 }))
    await assert.rejects(locks.waitForUnlock('a', 2, { timeout: 1 }), { code: 'ERR_LOCK_TIMEOUT' })
    locks.release('a')
    await settled()
    assert.equal(two.state, 'fulfilled')
    assert.equal(all.state, 'pending')
    locks.release('a')
    await settled()
    assert.equal(all.state, 'fulfilled')
    assert.equal(locks.size, 0)
  })

  it('runExclusive passes the value before, and releases however the callback ends', async () => {
    const nested = async (before) => {
      assert.equal(locks.getValue('a'), 1)
      return [before, await locks.executeLocked('a', (inner) => inner)]
    }
    assert.deepEqual(await locks.runExclusive('a', nested, 2), [3, 1])
    const { value } = await locks.tryRunExclusive('a', () => locks.getValue('a'))
    assert.equal(value, 2)
    const error = new Error('mine')
    const fail = () => {
      throw error
    }
    await assert.rejects(locks.runExclusive('a', fail, 1, { priority: 1 }), error)
    await assert.rejects(locks.runExclusive('a', 'no function'), TypeError)
    assert.equal(locks.size, 0)
  })

  it('never has more holders than its value, and loses no waiter', async () => {
    const visit = fc.record({
      key: fc.constantFrom('a', 1, 1n),
      weight: fc.integer({ min: 1, max: 3 }),
      priority: fc.integer({ min: -1, max: 1 }),
      way: fc.constantFrom('stay', 'leave', 'abort', 'churn'),
    })
    const run = async (visits) => {
      const inside = new Map()
      const add = (key, weight) => {
        inside.set(key, (inside.get(key) ?? 0) + weight)
        assert.ok(inside.get(key) <= 3, 'oracle: more than 3 are inside')
      }
      const enter = async ({ key, weight, priority, way }) => {
        const controller = new AbortController()
        const options = { priority, signal: controller.signal }
        const wait = locks.acquire(key, weight, options)
        if (way === 'abort') controller.abort('aborted')
        const [before, release] = await wait
        assert.ok(before >= weight && before <= 3)
        add(key, weight)
        if (way === 'stay') await settled()
        if (way === 'churn') for (let i = 0; i < 300; i++) locks.tryAcquire(`${i}`)[1]()
        await null
        add(key, -weight)
        release()
        release()
      }
      const all = await Promise.allSettled(visits.map(enter))
      for (const [i, { status, reason }] of all.entries()) {
        if (status === 'fulfilled') continue
        assert.equal(reason, 'aborted')
        assert.equal(visits[i].way, 'abort')
      }
      assert.equal(locks.size, 0)
    }
    await fc.assert(fc.asyncProperty(fc.array(visit, { maxLength: 30 }), run), { numRuns: 1000 })
  })
})

describe('KeyedSemaphore: several keys at once', () => {
  it('takes its weight of each, and gives the values in the order of the keys', async () => {
    const locks = new KeyedSemaphore(3)
    await locks.acquire('b')
    const [values, release] = await locks.acquire(['b', 1, 'a', 'b'], 2)
    assert.deepEqual(values, [2, 3, 3, 2])
    assert.deepEqual(
      [1, 'a', 'b'].map((key) => locks.getValue(key)),
      [1, 1, 0],
    )
    assert.equal(locks.tryAcquire(['a', 'b']), undefined)
    assert.equal(locks.getValue('a'), 1)
    release()
    release()
    assert.deepEqual(
      [1, 'a', 'b'].map((key) => locks.getValue(key)),
      [3, 3, 2],
    )
    const [before, releaseBoth] = locks.tryAcquire(['b', 'a'], 2)
    assert.deepEqual(before, [2, 3])
    releaseBoth()
    const changed = ['b', 'a']
    const acquired = locks.acquire(changed)
    changed.reverse()
    const [own, releaseOwn] = await acquired
    assert.deepEqual(own, [2, 3])
    releaseOwn()
    const seen = await locks.runExclusive(['a', 'b'], (found) => found, 2, { priority: 1 })
    assert.deepEqual(seen, [3, 2])
    locks.release('b')
    assert.equal(locks.size, 0)
  })

  for (const [name, key, expected] of [...badKeys, ['an array', ['a'], TypeError]]) {
    it(`refuses ${name} among keys, and takes none`, async () => {
      const locks = new KeyedSemaphore(2)
      for (const keys of [
        ['a', key],
        [key, 1],
      ]) {
        assert.throws(() => locks.tryAcquire(keys), expected)
        await assert.rejects(
          failing(() => locks.acquire(keys)),
          expected,
        )
        await assert.rejects(locks.runExclusive(keys, unused), expected)
        assert.equal(locks.size, 0)
      }
    })
  }
})
