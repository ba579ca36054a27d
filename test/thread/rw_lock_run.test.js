'use strict'
// A read-write lock in one thread: callbacks that run while it is held, and refused input.
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { RWLock } = require('../..')
const { settled } = require('../helpers/keyed.js')
const { withNewLock } = require('../helpers/rw_lock.js')

const modes = ['Read', 'Write']
const boom = new Error('boom')
const fail = () => {
  throw boom
}

describe('RWLock: callbacks and input', () => {
  let lock
  withNewLock((fresh) => {
    lock = fresh
  })

  for (const [mode, method] of [
    ['Read', 'runShared'],
    ['Write', 'runExclusive'],
  ]) {
    it(`${method} holds it while the callback runs, and never calls it at once`, async () => {
      let calls = 0
      const seen = () => {
        calls++
        assert.deepEqual(
          [lock.isWriteLocked(), lock.readers],
          mode === 'Read' ? [false, 1] : [true, 0],
        )
        return settled().then(() => 42)
      }
      const running = lock[method](seen)
      assert.ok(lock.isLocked())
      assert.equal(calls, 0)
      assert.equal(await running, 42)
      const writer = await lock.acquireWrite()
      const after = lock[method](seen, { priority: 1 })
      writer()
      assert.equal(calls, 1)
      assert.equal(await after, 42)
    })

    it(`${method} releases when the callback throws or rejects`, async () => {
      await assert.rejects(lock[method](fail), boom)
      assert.ok(!lock.isLocked())
      await assert.rejects(lock[method](fail, 1), boom)
      await assert.rejects(
        lock[method](async () => fail()),
        boom,
      )
    })

    it(`${method} rejects, and does not throw, for an invalid callback or option`, async () => {
      const unused = () => assert.fail('called')
      for (const bad of [undefined, null, 'a', {}])
        await assert.rejects(lock[method](bad), TypeError)
      for (const bad of [null, 'a', { timeout: '1' }]) {
        await assert.rejects(lock[method](unused, bad), TypeError)
      }
      for (const bad of [NaN, { timeout: -1 }]) {
        await assert.rejects(lock[method](unused, bad), RangeError)
      }
      const signal = AbortSignal.abort(boom)
      await assert.rejects(lock[method](unused, { signal }), boom)
      const writer = await lock.acquireWrite()
      await assert.rejects(lock[method](unused, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      writer()
    })

    it(`${method} calls back in the async context of its caller`, async () => {
      const storage = new AsyncLocalStorage()
      const writer = await lock.acquireWrite()
      const runs = ['a', 'b'].map((name) =>
        storage.run(name, () => lock[method](() => storage.getStore())),
      )
      storage.run('releaser', writer)
      assert.deepEqual(await Promise.all(runs), ['a', 'b'])
    })

    it(`${method}Sync returns the callback's result, and releases when it throws`, () => {
      const main = new RWLock({ allowBlockingMainThread: true })
      const seen = () => [main.isWriteLocked(), main.readers]
      assert.deepEqual(main[`${method}Sync`](seen), mode === 'Read' ? [false, 1] : [true, 0])
      assert.throws(() => main[`${method}Sync`](fail), boom)
      assert.throws(() => main[`${method}Sync`](), TypeError)
      assert.ok(!main.isLocked())
      assert.throws(() => lock[`${method}Sync`](fail), {
        name: 'TypeError',
        message: /main thread/,
      })
    })
  }

  it('refuses invalid input at once, and leaves nothing behind', () => {
    for (const mode of modes) {
      const acquire = lock[`acquire${mode}`].bind(lock)
      for (const bad of [null, 'a', true, { priority: '1' }, { timeout: '1' }, { signal: {} }]) {
        assert.throws(() => acquire(bad), TypeError)
      }
      for (const bad of [NaN, { priority: NaN }, { timeout: NaN }, { timeout: -1 }]) {
        assert.throws(() => acquire(bad), RangeError)
      }
      const options = {
        get timeout() {
          return fail()
        },
      }
      assert.throws(() => acquire(options), boom)
      assert.throws(() => lock[`acquire${mode}Sync`](), TypeError)
      assert.ok(!lock.isLocked())
    }
  })

  it('its constructor takes the options of a lock, and no others', () => {
    for (const bad of [
      null,
      'a',
      1,
      { fairness: 'x' },
      { allowBlockingMainThread: 1 },
      { name: 1 },
    ]) {
      assert.throws(() => new RWLock(bad), TypeError)
    }
    const buffer = new SharedArrayBuffer(4)
    assert.throws(() => new RWLock({ buffer: new ArrayBuffer(4) }), TypeError)
    assert.throws(() => new RWLock({ buffer: new SharedArrayBuffer(2) }), RangeError)
    assert.throws(() => new RWLock({ buffer, byteOffset: 2 }), RangeError)
    assert.throws(() => new RWLock({ buffer, name: 'a' }), TypeError)
    assert.throws(() => new RWLock({ name: '' }), RangeError)
    const shared = new RWLock({ buffer })
    assert.deepEqual([shared.buffer, shared.byteOffset], [buffer, 0])
  })

  it('may be used by getters of the options while it reads them', async () => {
    const writer = await lock.acquireWrite({
      get priority() {
        lock.tryAcquireRead()()
        return 0
      },
    })
    assert.ok(lock.isWriteLocked())
    writer()
    let inner
    const outer = lock.acquireWrite({
      get timeout() {
        inner ??= lock.tryAcquireRead()
        return undefined
      },
    })
    assert.equal(lock.isWriteLocked(), false)
    inner()
    ;(await outer)()
  })
})
