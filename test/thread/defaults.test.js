'use strict'
// What a constructor says for all waits: timeout and maxPending.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { freshName } = require('../helpers/agents.js')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex, RecursiveMutex, RWLock, Semaphore } =
  boxoffice
const fail = () => assert.fail('it was called')

/** Each is { hold, waits } for a lock with `options`: hold() gives what lets go; the waits are for what is held. */
const kinds = {
  Mutex: (options) => {
    const mutex = new Mutex(options)
    return {
      hold: () => mutex.tryAcquire(),
      waits: {
        acquire: (limits) => mutex.acquire(limits),
        runExclusive: (limits) => mutex.runExclusive(fail, limits),
        executeLocked: (limits) => mutex.executeLocked(fail, limits),
        lock: (limits) => mutex.lock(limits),
      },
      others: { waitForUnlock: (limits) => mutex.waitForUnlock(limits) },
    }
  },
  RecursiveMutex: (options) => {
    const mutex = new RecursiveMutex(options)
    const hold = () => {
      let release
      mutex.runExclusive(() => new Promise((resolve) => (release = resolve)))
      return () => release()
    }
    return { hold, waits: { runExclusive: (limits) => mutex.runExclusive(fail, limits) } }
  },
  Semaphore: (options) => {
    const semaphore = new Semaphore(2, options)
    return {
      hold: () => semaphore.tryAcquire(2)[1],
      waits: {
        acquire: (limits) => semaphore.acquire(undefined, limits),
        'acquire of a weight': (limits) => semaphore.acquire(2, limits),
        'acquire of an object': (limits) =>
          semaphore.acquire({ weight: 2, ...(typeof limits === 'object' ? limits : undefined) }),
        runExclusive: (limits) => semaphore.runExclusive(fail, 1, limits),
      },
      others: { waitForUnlock: (limits) => semaphore.waitForUnlock(2, limits) },
    }
  },
  RWLock: (options) => {
    const lock = new RWLock(options)
    return {
      hold: () => lock.tryAcquireWrite(),
      waits: {
        acquireRead: (limits) => lock.acquireRead(limits),
        acquireWrite: (limits) => lock.acquireWrite(limits),
        runShared: (limits) => lock.runShared(fail, limits),
        runExclusive: (limits) => lock.runExclusive(fail, limits),
      },
    }
  },
  KeyedMutex: (options) => {
    const locks = new KeyedMutex(options)
    return {
      hold: () => locks.tryAcquire('a'),
      waits: {
        acquire: (limits) => locks.acquire('a', limits),
        'acquire of several': (limits) => locks.acquire(['b', 'a'], limits),
        runExclusive: (limits) => locks.runExclusive('a', fail, limits),
        lock: (limits) => locks.lock('a', limits),
      },
      others: { waitForUnlock: (limits) => locks.waitForUnlock('a', limits) },
    }
  },
  KeyedSemaphore: (options) => {
    const locks = new KeyedSemaphore(2, options)
    return {
      hold: () => locks.tryAcquire('a', 2)[1],
      waits: {
        acquire: (limits) => locks.acquire('a', 1, limits),
        'acquire of several': (limits) => locks.acquire(['a', 'b'], undefined, limits),
        runExclusive: (limits) => locks.runExclusive('a', fail, 2, limits),
      },
      others: { waitForUnlock: (limits) => locks.waitForUnlock('a', 1, limits) },
    }
  },
  KeyedRWLock: (options) => {
    const locks = new KeyedRWLock(options)
    return {
      hold: () => locks.tryAcquireWrite('a'),
      waits: {
        acquireRead: (limits) => locks.acquireRead('a', limits),
        runExclusive: (limits) => locks.runExclusive(['a', 'b'], fail, limits),
      },
    }
  },
}

const late = { code: 'ERR_LOCK_TIMEOUT' }
const full = { code: 'ERR_LOCK_QUEUE_FULL' }

const scopes = { thread: () => ({}), process: () => ({ name: freshName() }) }
for (const [scope, optionsOf] of Object.entries(scopes)) {
  for (const [kind, make] of Object.entries(kinds)) {
    describe(`the constructor of a ${kind} in the scope ${scope}`, () => {
      it('has the timeout of each wait, which may have another', async () => {
        const { hold, waits, others = {} } = make({ ...optionsOf(), timeout: 3 })
        const release = hold()
        for (const wait of Object.values({ ...waits, ...others })) {
          await assert.rejects(wait(), late)
          await assert.rejects(wait(1), late)
          await assert.rejects(wait({ priority: 1 }), late)
          await assert.rejects(wait({ timeout: 1e6, signal: AbortSignal.timeout(1) }), {
            name: 'TimeoutError',
          })
        }
        release()
      })

      it('says how many callers may wait, which each may say for itself', async () => {
        const { hold, waits } = make({ ...optionsOf(), maxPending: 1 })
        const release = hold()
        const controller = new AbortController()
        const { signal } = controller
        for (const wait of Object.values(waits)) {
          const first = wait({ signal })
          await assert.rejects(wait(), full)
          await assert.rejects(wait({ timeout: 1000 }), full)
          await assert.rejects(wait({ maxPending: 0 }), full)
          await assert.rejects(wait({ maxPending: 2, timeout: 1 }), late)
          await assert.rejects(wait({ maxPending: Infinity, timeout: 1 }), late)
          controller.abort()
          await assert.rejects(first, { name: 'AbortError' })
          break
        }
        for (const wait of Object.values(waits)) await assert.rejects(wait({ maxPending: 0 }), full)
        release()
      })
    })
  }

  describe(`a lock with maxPending 0 in the scope ${scope}`, () => {
    it('is granted where it is free, and leaves nothing behind where it is not', async () => {
      const mutex = new Mutex({ ...optionsOf(), maxPending: 0 })
      const release = await mutex.acquire()
      await assert.rejects(mutex.acquire(), {
        ...full,
        message: /has as many waiters as maxPending lets it have, 0: try again later$/,
      })
      assert.equal(mutex.snapshot().waiting, 0)
      release()
      await mutex.runExclusive(() => {})
      assert.equal(mutex.isLocked(), false)
    })
  })
}

describe('timeout and maxPending of a constructor', () => {
  it('are checked', () => {
    const wrong = [
      [{ timeout: -1 }, RangeError],
      [{ timeout: '5' }, TypeError],
      [{ maxPending: -1 }, RangeError],
      [{ maxPending: 1.5 }, RangeError],
      [{ maxPending: Number.NaN }, RangeError],
      [{ maxPending: '5' }, TypeError],
    ]
    for (const [options, name] of wrong) {
      for (const make of Object.values(kinds)) assert.throws(() => make(options), name)
    }
    assert.throws(() => new Mutex().acquire({ maxPending: -1 }), RangeError)
  })

  it('are no options of what has no such waits', () => {
    for (const make of [
      (options) => new boxoffice.AutoResetEvent(options),
      (options) => new boxoffice.Barrier(2, options),
      (options) => new boxoffice.LockManager(options),
    ]) {
      assert.throws(() => make({ timeout: 5 }), /unknown option "timeout"/)
      assert.throws(() => make({ maxPending: 5 }), /unknown option "maxPending"/)
    }
    assert.throws(() => new Mutex().waitForUnlock({ maxPending: 5 }), /unknown option "maxPending"/)
  })

  it('limits how long a thread blocks', () => {
    const options = { name: freshName(), timeout: 1, allowBlockingMainThread: true }
    const semaphore = new Semaphore(1, options)
    const [, release] = semaphore.acquireSync()
    assert.throws(() => semaphore.acquireSync(), late)
    assert.throws(() => semaphore.runExclusiveSync(fail, 1), late)
    release()
    assert.equal(
      semaphore.runExclusiveSync((value) => value),
      1,
    )
  })

  it('leaves other objects of that name alone', async () => {
    const name = freshName()
    const [limited, other] = [new Mutex({ name, timeout: 1, maxPending: 0 }), new Mutex({ name })]
    const release = await other.acquire()
    const waiting = other.acquire()
    await assert.rejects(limited.acquire(), full)
    release()
    ;(await waiting)()
  })

  it('counts the waiters of each key for itself', async () => {
    const locks = new KeyedMutex({ maxPending: 1 })
    const releases = [await locks.acquire('a'), await locks.acquire('b')]
    const waiting = [locks.acquire('a'), locks.acquire('b')]
    await assert.rejects(locks.acquire('a'), { ...full, message: /key "a"/ })
    for (const release of releases) release()
    for (const wait of waiting) (await wait)()
  })

  it('stands for what frozen options leave undefined', async () => {
    const limits = Object.freeze({ timeout: undefined, priority: 1 })
    const release = await new Mutex({ timeout: 1000 }).acquire(limits)
    release()
    const [, giveBack] = await new Semaphore(1, { timeout: 1000 }).acquire(1, limits)
    giveBack()
  })
})
