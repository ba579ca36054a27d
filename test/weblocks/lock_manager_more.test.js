'use strict'
// Features of the lock manager beyond the standard, and where it is installed.
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { installNavigatorLocks, LockManager, locks } = require('../..')
const { useFakeTimers } = require('../helpers/timers.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { run } = require('../helpers/processes.js')
const { assertFree, stateOf, useHolders } = require('../helpers/web_locks.js')

const never = () => assert.fail('the callback was called')
const entry = JSON.stringify(require.resolve('../..'))

describe('locks.query()', () => {
  const hold = useHolders()

  it('gives names as they are, unpaired surrogates included', async () => {
    const names = ['a\ud800', 'a\udfff', '\u00e9']
    for (const name of names) await hold(name)
    const { held } = await locks.query()
    assert.deepEqual(
      held.map(({ name }) => name),
      names,
    )
  })
})

describe('locks.request() with a timeout', () => {
  const fake = useFakeTimers()
  const hold = useHolders()

  it('rejects when it has passed, leaves the queue, and admits the requests behind it', async () => {
    await hold('a', { mode: 'shared' })
    const late = outcome(locks.request('a', { timeout: 10 }, never))
    const behind = outcome(locks.request('a', { mode: 'shared' }, () => 'behind'))
    fake.clock.tick(9)
    assert.deepEqual((await stateOf('a')).pending, ['exclusive', 'shared'])
    fake.clock.tick(1)
    assert.deepEqual((await stateOf('a')).pending, [])
    await settled()
    assert.equal(late.reason.code, 'ERR_LOCK_TIMEOUT')
    assert.equal(late.reason.message, 'the lock "a" was not available within 10 ms')
    assert.equal(behind.value, 'behind')
  })

  it('of 0 takes the lock at once or not at all', async () => {
    assert.equal(await locks.request('a', { timeout: 0 }, () => 'free'), 'free')
    await hold('a')
    await assert.rejects(locks.request('a', { timeout: 0 }, never), { code: 'ERR_LOCK_TIMEOUT' })
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
  })

  it('leaves no timer when it is granted, or aborted', async () => {
    const held = await hold('a')
    const granted = locks.request('a', { timeout: 10 }, () => 'granted')
    const controller = new AbortController()
    const { signal } = controller
    const aborted = outcome(locks.request('a', { timeout: 10, signal }, never))
    assert.equal(fake.clock.pending, 2)
    controller.abort('why')
    held.end()
    assert.equal(await granted, 'granted')
    assert.equal(aborted.reason, 'why')
    assert.equal(fake.clock.pending, 0)
  })

  it('does nothing once it is granted', async () => {
    const held = await hold('a', { timeout: 10 })
    fake.clock.tick(100)
    held.end('well')
    assert.equal(await held.promise, 'well')
  })

  for (const timeout of [null, '1', {}]) {
    it(`refuses a ${typeof timeout}`, () =>
      assert.rejects(locks.request('a', { timeout }, never), TypeError))
  }
  for (const timeout of [-1, NaN]) {
    it(`refuses ${timeout}`, () =>
      assert.rejects(locks.request('a', { timeout }, never), RangeError))
  }
})

describe('locks.request() with a priority', () => {
  const hold = useHolders()

  it('goes ahead of requests of a lower priority, and behind those of its own', async () => {
    const held = await hold('a')
    const log = []
    const all = [0, 1, -1, 1, 0, Infinity, -Infinity].map((priority, i) =>
      locks.request('a', { priority }, () => log.push(i)),
    )
    held.end()
    await Promise.all(all)
    assert.deepEqual(log, [5, 1, 3, 0, 4, 2, 6])
  })

  it('is granted at once beside shared holders, ahead of every waiter', async () => {
    await hold('a', { mode: 'shared' })
    const waiting = outcome(locks.request('a', () => 'waiting'))
    const options = { mode: 'shared', priority: 1 }
    assert.equal(await locks.request('a', options, () => 'first'), 'first')
    const now = { ...options, ifAvailable: true }
    assert.ok(await locks.request('a', now, (lock) => lock !== null))
    assert.equal(waiting.state, 'pending')
  })

  it('is a number', async () => {
    await assert.rejects(locks.request('a', { priority: '1' }, never), TypeError)
    await assert.rejects(locks.request('a', { priority: NaN }, never), RangeError)
  })
})

describe('locks.request() with a scope', () => {
  it('reports the process scope', async () => {
    assert.equal(await locks.request('a', { scope: 'process' }, () => 1), 1)
    const message = 'unknown scope "host": request() knows \'process\' only'
    await assert.rejects(locks.request('a', { scope: 'host' }, never), {
      name: 'RangeError',
      message,
    })
    assert.throws(() => locks.acquire('a', { scope: null }), RangeError)
  })
})

describe('locks.acquire()', () => {
  const hold = useHolders()

  it('resolves to a Releaser, which releases once', async () => {
    const release = await locks.acquire('a')
    assert.equal(release.abandoned, false)
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
    release()
    const next = await locks.acquire('a', { mode: 'shared' })
    release()
    release.release()
    assert.deepEqual(await stateOf('a'), { held: ['shared'], pending: [] })
    next[Symbol.dispose]()
    await next[Symbol.asyncDispose]()
    await assertFree('a')
  })

  it('waits in one queue with the requests', async () => {
    const held = await hold('a')
    const log = []
    const first = locks.request('a', () => log.push('first'))
    const second = locks.acquire('a').then((release) => {
      log.push('second')
      release()
    })
    const third = locks.request('a', () => log.push('third'))
    held.end()
    await Promise.all([first, second, third])
    assert.deepEqual(log, ['first', 'second', 'third'])
  })

  it('resolves to undefined if the lock is not available', async () => {
    const release = await locks.acquire('a', { ifAvailable: true })
    assert.equal(await locks.acquire('a', { ifAvailable: true }), undefined)
    release()
    await assertFree('a')
  })

  it('ends a wait by its timeout and its signal', async () => {
    await hold('a')
    await assert.rejects(locks.acquire('a', { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    const controller = new AbortController()
    const { signal } = controller
    const aborted = locks.acquire('a', { signal })
    controller.abort('why')
    await assert.rejects(aborted, (reason) => reason === 'why')
    await assert.rejects(locks.acquire('a', { signal }), (reason) => reason === 'why')
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
  })

  it('takes null for no options, as request() does', async () => {
    const release = await locks.acquire('a', null)
    release()
  })

  it('throws for invalid arguments', () => {
    assert.throws(() => locks.acquire(Symbol('a')), TypeError)
    assert.throws(() => locks.acquire('a', 1), TypeError)
    assert.throws(() => locks.acquire('a', { mode: 'no' }), TypeError)
    assert.throws(() => locks.acquire('-a'), { name: 'NotSupportedError' })
    const both = { steal: true, ifAvailable: true }
    assert.throws(() => locks.acquire('a', both), { name: 'NotSupportedError' })
  })

  it('aborts its signal when the lock is stolen, and then releases nothing', async () => {
    const early = await locks.acquire('a')
    const { signal } = early
    assert.equal(signal.aborted, false)
    assert.equal(early.signal, signal)
    const thief = await locks.acquire('a', { steal: true })
    assert.equal(signal.aborted, true)
    assert.deepEqual([signal.reason.name, signal.reason.constructor], ['AbortError', DOMException])
    assert.equal(signal.reason.message, 'the lock "a" has been stolen')
    early()
    assert.deepEqual(await stateOf('a'), { held: ['exclusive'], pending: [] })
    thief()
    // A signal that is first read now.
    const late = await locks.acquire('a')
    await locks.request('a', { steal: true }, () => {})
    assert.equal(late.signal.aborted, true)
    await assertFree('a')
  })

  it('aborts no signal of a released lock', async () => {
    const release = await locks.acquire('a')
    const { signal } = release
    release()
    await locks.request('a', { steal: true }, () => {})
    assert.equal(signal.aborted, false)
  })

  it('may be released by a holder that is told of the theft of another lock', async () => {
    const shared = await Promise.all([1, 2, 3].map(() => locks.acquire('a', { mode: 'shared' })))
    for (const { signal } of shared) {
      signal.addEventListener('abort', () => {
        for (const release of shared) release()
      })
    }
    await locks.request('a', { steal: true }, () => {})
    assert.ok(shared.every(({ signal }) => signal.aborted))
    await assertFree('a')
  })
})

function aborter() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) }
}

describe('callbacks of locks.request()', () => {
  const hold = useHolders()

  it('run in the async context of the caller', async () => {
    const storage = new AsyncLocalStorage()
    const held = await storage.run('holder', () => hold('a'))
    const ask = (options) => locks.request('a', options, () => storage.getStore())
    const queued = storage.run('queued', ask, {})
    const absent = storage.run('absent', ask, { ifAvailable: true })
    storage.run('releaser', () => held.end())
    assert.equal(await queued, 'queued')
    assert.equal(await absent, 'absent')
    assert.equal(await storage.run('free', ask, {}), 'free')
    assert.equal(await storage.run('thief', ask, { steal: true }), 'thief')
  })
})

describe('a request whose signal aborts before its callback is called', () => {
  it('calls it not, even if the lock has been stolen as well', async () => {
    for (const steal of [true, false]) {
      const { signal, abort } = aborter()
      let isCalled = false
      const asked = locks.request('a', { signal }, () => {
        isCalled = true
      })
      const thief = steal && locks.request('a', { steal }, () => 'stolen')
      abort('stop')
      assert.equal(await asked.catch((reason) => reason), 'stop')
      await thief
      assert.equal(isCalled, false)
      await assertFree('a')
    }
  })
})

describe('installNavigatorLocks()', () => {
  it('sets locks as navigator.locks, where code for browsers expects it', async () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
    try {
      assert.equal(installNavigatorLocks(), locks)
      const { navigator } = globalThis
      assert.equal(navigator.locks, locks)
      assert.ok(navigator.locks instanceof LockManager)
      const shape = { configurable: true, enumerable: true, writable: true, value: locks }
      assert.deepEqual(Object.getOwnPropertyDescriptor(navigator, 'locks'), shape)
      assert.equal(installNavigatorLocks(), locks)
      assert.equal(globalThis.navigator, navigator)
      assert.equal(await navigator.locks.request('a', () => 1), 1)
    } finally {
      delete globalThis.navigator.locks
      if (before === undefined) delete globalThis.navigator
    }
  })

  it('makes a navigator without other properties if there is none', async () => {
    const code = `
      delete globalThis.navigator
      require(${entry}).installNavigatorLocks()
      const names = Object.keys(globalThis.navigator)
      process.stdout.write(JSON.stringify(names) + '\\n')`
    const child = await run(['-e', code])
    assert.deepEqual([child.shown, child.stderr], [[['locks']], ''])
  })

  it('is optional: nothing is changed unless it is called', async () => {
    const code = `
      const before = globalThis.navigator?.locks
      require(${entry})
      process.stdout.write(JSON.stringify(before === globalThis.navigator?.locks) + '\\n')`
    assert.deepEqual((await run(['-e', code])).shown, [true])
  })
})
