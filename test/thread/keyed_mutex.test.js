'use strict'
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { E_CANCELED, KeyedMutex } = require('../..')
const { holdersHint } = require('../helpers/holders_hint.js')
const { apart, badKeys, busyIn, outcome, settled } = require('../helpers/keyed.js')

const notHeld = { code: 'ERR_LOCK_NOT_HELD' }

describe('KeyedMutex', () => {
  let locks
  beforeEach(() => {
    locks = new KeyedMutex()
  })
  afterEach(() => {
    // A key disappears with its holder, whatever a test has done to it.
    for (const key of locks.keys()) locks.release(key)
    assert.equal(locks.size, 0)
  })

  it('locks each key separately, one holder at a time', async () => {
    const release = await locks.acquire('a')
    assert.ok(locks.isLocked('a'))
    assert.ok(!locks.isLocked('b'))
    const second = outcome(locks.acquire('a'))
    const releaseB = await locks.acquire('b')
    assert.equal(second.state, 'pending')
    assert.equal(locks.size, 2)
    release()
    await settled()
    assert.equal(second.state, 'fulfilled')
    assert.ok(locks.isLocked('a'))
    second.value()
    releaseB()
  })

  it('admits in the order of priority, then of arrival', async () => {
    const order = []
    const enter = async (name, priority) => {
      const release = await locks.acquire('a', { priority })
      order.push(name)
      release()
    }
    const release = await locks.acquire('a')
    const all = [enter('x', 0), enter('y', -1), enter('z', 5), enter('w', 0)]
    assert.deepEqual(locks.snapshot(), [{ key: 'a', locked: true, waiting: 4 }])
    release()
    await Promise.all(all)
    assert.deepEqual(order, ['z', 'x', 'w', 'y'])
  })

  it('distinguishes strings, numbers and bigints', async () => {
    const releases = await Promise.all(apart.map((key) => locks.acquire(key)))
    assert.equal(locks.size, apart.length)
    assert.deepEqual(busyIn(locks), new Set(apart))
    for (const [i, release] of releases.entries()) {
      assert.ok(locks.isLocked(apart[i]))
      release()
      assert.ok(!locks.isLocked(apart[i]))
      assert.equal(locks.size, apart.length - i - 1)
    }
  })

  it('treats 0 and -0 as one key', () => {
    assert.ok(locks.tryLock(0))
    assert.ok(!locks.tryLock(-0))
    assert.ok(locks.isLocked(-0))
    locks.unlock(-0)
    assert.ok(!locks.isLocked(0))
  })

  for (const [name, key, expected] of badKeys) {
    it(`refuses ${name} as a key`, async () => {
      const calls = ['acquire', 'tryAcquire', 'lock', 'tryLock', 'unlock', 'release']
      for (const method of [...calls, 'waitForUnlock', 'isLocked', 'cancel']) {
        assert.throws(() => locks[method](key), expected, method)
      }
      assert.throws(() => locks.acquire(key, {}), expected)
      assert.throws(() => locks.lock(key, {}), expected)
      const unused = () => assert.fail('called')
      await assert.rejects(locks.runExclusive(key, unused), expected)
      await assert.rejects(locks.runExclusive(key, unused, {}), expected)
      await assert.rejects(locks.executeLocked(key, unused), expected)
    })
  }

  it('takes no array in methods for one key', () => {
    for (const method of ['lock', 'tryLock', 'unlock', 'release', 'isLocked', 'cancel']) {
      assert.throws(() => locks[method](['a']), TypeError, method)
    }
    assert.throws(() => locks.waitForUnlock(['a']), TypeError)
  })

  it('names the key in errors', async () => {
    assert.throws(() => locks.unlock('a'), { ...notHeld, message: /"a"/ })
    assert.throws(() => locks.unlock('1'), { ...notHeld, message: /"1"/ })
    assert.throws(() => locks.unlock(1), { ...notHeld, message: /key 1 / })
    locks.tryLock(7)
    await assert.rejects(locks.acquire(7, { timeout: 0 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: 'the mutex of key 7 was not available within 0 ms',
    })
    await assert.rejects(locks.waitForUnlock(7, { timeout: 1 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: `the mutex of key 7 was not available within 1 ms${holdersHint}`,
    })
  })

  it('tryAcquire and tryLock take free keys only', async () => {
    const release = locks.tryAcquire('a')
    assert.equal(typeof release, 'function')
    assert.equal(release.abandoned, false)
    assert.equal(locks.tryAcquire('a'), undefined)
    assert.equal(locks.tryLock('a'), false)
    release.release()
    assert.equal(locks.tryLock('a'), true)
    release()
    assert.ok(locks.isLocked('a'))
    locks.unlock('a')
    const again = locks.tryAcquire('a')
    await again[Symbol.asyncDispose]()
    assert.ok(!locks.isLocked('a'))
  })

  it('lock and unlock are a pair', async () => {
    assert.equal(await locks.lock('a'), undefined)
    const second = outcome(locks.lock('a', { priority: 1 }))
    await settled()
    assert.equal(second.state, 'pending')
    locks.unlock('a')
    await settled()
    assert.equal(second.state, 'fulfilled')
    assert.equal(second.value, undefined)
    locks.unlock('a')
    assert.throws(() => locks.unlock('a'), notHeld)
  })

  for (const method of ['runExclusive', 'executeLocked']) {
    it(`${method} holds the key while the callback runs, and releases however it ends`, async () => {
      let called = false
      const run = locks[method]('a', async () => {
        called = true
        assert.ok(locks.isLocked('a'))
        await settled()
        assert.ok(locks.isLocked('a'))
        return 42
      })
      assert.ok(!called && locks.isLocked('a'))
      assert.equal(await run, 42)
      const error = new Error('mine')
      const fail = () => {
        throw error
      }
      await assert.rejects(locks[method]('a', fail), error)
      await assert.rejects(locks[method]('a', fail, { priority: 1 }), error)
      await assert.rejects(
        locks[method]('a', () => Promise.reject(error)),
        error,
      )
      assert.equal(locks.size, 0)
      await assert.rejects(locks[method]('a', 'no function'), TypeError)
      await assert.rejects(locks[method](['a'], undefined), TypeError)
      assert.equal(locks.size, 0)
    })
  }

  it('runExclusive runs overtaken callers later, each in its own async context', async () => {
    const storage = new AsyncLocalStorage()
    const seen = []
    const run = (name) =>
      storage.run(name, () => locks.runExclusive('a', () => seen.push(storage.getStore())))
    await Promise.all(['x', 'y', 'z'].map(run))
    assert.deepEqual(seen, ['x', 'y', 'z'])
  })

  it('runs callbacks that use the same key and others', async () => {
    const seen = []
    let inner
    await locks.runExclusive('a', async () => {
      inner = locks.runExclusive('a', () => seen.push('inner'))
      await locks.runExclusive('b', () => seen.push('b'))
      assert.equal(locks.tryAcquire('a'), undefined)
      seen.push('outer')
    })
    await inner
    assert.deepEqual(seen, ['b', 'outer', 'inner'])
  })

  it('release frees the key for any holder, and the next waiter acquires it', async () => {
    locks.release('a')
    const first = await locks.acquire('a')
    const second = outcome(locks.acquire('a'))
    locks.release('a')
    await settled()
    assert.equal(second.state, 'fulfilled')
    first()
    assert.ok(locks.isLocked('a'))
    second.value()
    assert.ok(!locks.isLocked('a'))
  })

  it('waitForUnlock resolves without acquiring, after queued waiters', async () => {
    assert.equal(await locks.waitForUnlock('a'), undefined)
    const first = await locks.acquire('a')
    const second = outcome(locks.acquire('a'))
    const early = outcome(locks.waitForUnlock('a', { priority: 1 }))
    const late = outcome(locks.waitForUnlock('a'))
    first()
    await settled()
    assert.equal(second.state, 'fulfilled')
    assert.equal(early.state, 'fulfilled')
    assert.equal(late.state, 'pending')
    second.value()
    await settled()
    assert.equal(late.state, 'fulfilled')
    assert.ok(!locks.isLocked('a'))
  })

  it('cancel rejects the waiters for that key only', async () => {
    const own = new Error('own')
    for (const options of [own, { cancelError: own }]) {
      const mine = new KeyedMutex(options)
      mine.tryLock('a')
      const waits = mine.acquire('a')
      mine.cancel('a')
      await assert.rejects(waits, own)
    }
    // As a Mutex does.
    const withoutError = new KeyedMutex({ cancelError: null })
    withoutError.tryLock('a')
    const waits = outcome(withoutError.acquire('a'))
    withoutError.cancel('a')
    await settled()
    assert.deepEqual(waits, { state: 'rejected', value: undefined, reason: null })
    for (const key of ['a', 'b']) locks.tryLock(key)
    const a = [outcome(locks.acquire('a')), outcome(locks.lock('a'))]
    const b = outcome(locks.acquire('b'))
    const watcher = outcome(locks.waitForUnlock('a'))
    const reason = { mine: true }
    locks.cancel('a', reason)
    locks.cancel('idle')
    await settled()
    for (const { state, reason: given } of a) {
      assert.equal(state, 'rejected')
      assert.equal(given, reason)
    }
    assert.equal(b.state, 'pending')
    assert.equal(watcher.state, 'pending')
    assert.ok(locks.isLocked('a'))
    locks.cancel('b')
    await settled()
    assert.equal(b.reason, E_CANCELED)
  })

  it('cancelAll rejects the waiters for every key', async () => {
    const keys = ['a', 1, 2n]
    const all = keys.map((key) => [locks.tryLock(key), outcome(locks.acquire(key))][1])
    const more = keys.map((key) => outcome(locks.runExclusive(key, () => assert.fail('called'))))
    const reason = new Error('all')
    locks.cancelAll(reason)
    await settled()
    for (const one of [...all, ...more]) assert.equal(one.reason, reason)
    for (const key of keys) assert.ok(locks.isLocked(key))
    locks.cancelAll()
    assert.equal(locks.size, 3)
  })

  it('keeps two maps apart', async () => {
    const others = new KeyedMutex(new Error('others'))
    locks.tryLock('a')
    assert.ok(others.tryLock('a'))
    others.unlock('a')
    assert.ok(locks.isLocked('a'))
    assert.equal(others.size, 0)
  })

  it('lists its keys as an iterator, with the state of each', async () => {
    locks.tryLock('a')
    locks.tryLock(1)
    const waits = locks.acquire(1)
    const keys = locks.keys()
    assert.equal(keys[Symbol.iterator](), keys)
    assert.deepEqual([...keys], ['a', 1])
    assert.deepEqual(locks.snapshot(), [
      { key: 'a', locked: true, waiting: 0 },
      { key: 1, locked: true, waiting: 1 },
    ])
    locks.release(1)
    const release = await waits
    release()
  })
})
