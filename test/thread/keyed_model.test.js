'use strict'
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { KeyedMutex } = require('../..')
const { churn, outcome, settled } = require('../helpers/keyed.js')
const { Pair } = require('../helpers/keyed_pair.js')
const { scaled } = require('../helpers/scale.js')

describe('KeyedMutex: its model', function () {
  this.timeout(60_000)

  const key = fc.constantFrom('a', '1', 1, 1n)
  const which = fc.nat(20)
  const ask = fc.record({
    method: fc.constant('ask'),
    way: fc.constantFrom('acquire', 'acquire', 'acquire', 'waitForUnlock'),
    key,
    priority: fc.constantFrom(0, 0, 0, 1, -1, 0.5),
    timeout: fc.constantFrom(undefined, undefined, 0, 3, 10),
    isAborted: fc.constantFrom(false, false, false, false, true),
    isNested: fc.constantFrom(...Array(9).fill(false), true),
  })
  const others = ['release', 'release', 'free', 'cancel', 'cancelAll', 'abort', 'advance', 'churn']
  const other = fc.record({ method: fc.constantFrom(...others), key, which })
  const steps = fc.array(fc.oneof(ask, other), { maxLength: 60, size: 'max' })

  it('acts as its model, step by step', async () => {
    const run = async (all) => {
      const pair = new Pair()
      try {
        for (const step of all) {
          pair[step.method](step)
          await pair.compare()
        }
        pair.cancelAll({ which: 0 })
        for (const { key } of pair.model.snapshot()) pair.free({ key })
        await pair.compare()
        assert.equal(pair.locks.size, 0)
        assert.equal(pair.clock.size, 0)
        assert.equal(pair.seen.size, pair.requests.length)
      } finally {
        pair.clock.restore()
      }
    }
    await fc.assert(fc.asyncProperty(steps, run), { numRuns: scaled(2000, 1000) })
  })
})

describe('KeyedMutex: idle keys', () => {
  let locks
  beforeEach(() => {
    locks = new KeyedMutex()
  })

  for (const count of [255, 256, 257, 1023, 1025, 10_000]) {
    it(`forgets ${count} keys when they are idle`, async () => {
      const keys = Array.from({ length: count }, (_, i) => (i % 2 === 0 ? i : `${i}`))
      const releases = await Promise.all(keys.map((key) => locks.acquire(key)))
      assert.equal(locks.size, count)
      assert.equal(locks.snapshot().length, count)
      for (const [i, release] of releases.entries()) {
        release()
        if (i % 97 === 0) assert.equal(locks.size, count - i - 1)
      }
      assert.equal(locks.size, 0)
      assert.deepEqual([...locks.keys()], [])
      assert.deepEqual(locks.snapshot(), [])
      // Cores that other maps, or other keys of this one, now use.
      const others = new KeyedMutex()
      for (const map of [others, locks]) for (const key of keys) assert.ok(map.tryLock(key))
      for (const release of releases) release()
      for (const map of [others, locks]) {
        assert.equal(map.size, count)
        for (const key of keys) assert.ok(map.isLocked(key))
        for (const key of keys) map.unlock(key)
        assert.equal(map.size, 0)
      }
    })
  }

  it('are not counted, whatever has happened to them', async () => {
    const signal = AbortSignal.abort(new Error('mine'))
    const bad = [null, 'x', { priority: NaN }, { timeout: -1 }, { signal: 1 }]
    const getter = {
      get timeout() {
        throw new Error('mine')
      },
    }
    for (const options of [...bad, getter]) {
      for (const method of ['acquire', 'lock', 'waitForUnlock']) {
        assert.throws(() => locks[method]('a', options))
        assert.equal(locks.size, 0)
      }
      await assert.rejects(locks.runExclusive('a', () => {}, options))
      assert.equal(locks.size, 0)
    }
    for (const method of ['acquire', 'lock', 'waitForUnlock']) {
      await assert.rejects(locks[method]('a', { signal }), signal.reason)
      assert.equal(locks.size, 0)
    }
    await locks.waitForUnlock('a')
    await locks.waitForUnlock('a', { timeout: 1 })
    locks.cancel('a')
    locks.release('a')
    locks.isLocked('a')
    assert.equal(locks.size, 0)
    locks.tryLock('a')
    const ends = ['acquire', 'lock', 'waitForUnlock'].map((method) => [
      assert.rejects(locks[method]('a', { timeout: 1 }), { code: 'ERR_LOCK_TIMEOUT' }),
      assert.rejects(locks[method]('a', { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' }),
      assert.rejects(locks[method]('a', { signal: AbortSignal.timeout(1) }), { code: 23 }),
    ])
    await Promise.all(ends.flat())
    assert.equal(locks.tryAcquire('a'), undefined)
    assert.deepEqual(locks.snapshot(), [{ key: 'a', locked: true, waiting: 0 }])
    locks.unlock('a')
    assert.equal(locks.size, 0)
  })

  it('have a core that others may use by then: stale releasers do not touch it', async () => {
    const ways = [
      (release) => release(),
      (release) => release[Symbol.dispose](),
      (release) => release[Symbol.asyncDispose](),
    ]
    const others = new KeyedMutex(new Error('of others'))
    for (const way of ways) {
      const old = await locks.acquire('old')
      old()
      churn(locks, 256)
      const keys = Array.from({ length: 2000 }, (_, i) => i)
      for (const key of keys) assert.ok(others.tryLock(key))
      await way(old)
      for (const key of keys) {
        assert.ok(others.isLocked(key))
        await assert.rejects(others.acquire(key, { timeout: 0 }), { message: / of key \d+ / })
      }
      const wait = others.acquire(0)
      others.cancel(0)
      await assert.rejects(wait, { message: 'of others' })
      for (const key of keys) others.unlock(key)
    }
    assert.equal(others.size, 0)
  })

  it('freed by release before the callback began, do not affect the next holder', async () => {
    const run = locks.runExclusive('a', () => {})
    locks.release('a')
    churn(locks, 256)
    const keys = ['a', ...Array.from({ length: 1100 }, (_, i) => i)]
    for (const key of keys) assert.ok(locks.tryLock(key))
    await run
    for (const key of keys) assert.ok(locks.isLocked(key), `${key} was freed`)
    assert.equal(locks.size, keys.length)
  })
})

describe('KeyedMutex: options with getters that use the same map', () => {
  for (const method of ['acquire', 'lock', 'runExclusive', 'waitForUnlock']) {
    it(`do not make two mutexes of one key: ${method}`, async () => {
      const locks = new KeyedMutex()
      const call = (options) =>
        method === 'runExclusive'
          ? locks.runExclusive('a', () => locks.isLocked('a'), options)
          : locks[method]('a', options)
      let inner
      const getters = [
        () => churn(locks, 600),
        () => {
          locks.lock('a')
          churn(locks, 100)
          locks.unlock('a')
          churn(locks, 156)
        },
        () => {
          locks.lock('a')
          churn(locks, 1000)
        },
        () => {
          inner = call({ priority: -1 })
          churn(locks, 300)
        },
      ]
      for (const use of getters) {
        inner = undefined
        const outer = outcome(
          call({
            get signal() {
              use()
              return undefined
            },
          }),
        )
        await settled()
        const isHeld = locks.isLocked('a')
        if (isHeld) {
          // There is one core: a second one would admit a second holder here.
          assert.equal(locks.tryAcquire('a'), undefined)
          locks.release('a')
        }
        for (let i = 0; i < 2; i++) {
          await settled()
          locks.release('a')
        }
        await inner
        assert.equal(outer.state, 'fulfilled')
        assert.equal(locks.size, 0)
        churn(locks, 300)
      }
    })
  }
})
