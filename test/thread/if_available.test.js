'use strict'
// ifAvailable: the lock without waiting, or undefined.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { scopes } = require('../helpers/scopes.js')

const { DiningPhilosophers, KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex } = boxoffice
const { RecursiveMutex, RWLock, Semaphore, tryAcquire, withTimeout } = boxoffice

const now = { ifAvailable: true }
const fail = () => assert.fail('it was called')

/**
 * Each is { free, taken, hold }: `hold()` acquires the lock, and returns the function that releases
 * it; `acquire()` resolves to a Releaser (of a semaphore: to the ticket), `run(callback)` to the
 * callback's result.
 */
const kinds = {
  Mutex: (options) => {
    const mutex = new Mutex(options)
    return {
      hold: () => mutex.tryAcquire(),
      acquire: () => mutex.acquire(now),
      run: (callback) => mutex.runExclusive(callback, now),
      isFree: () => !mutex.isLocked(),
    }
  },
  RecursiveMutex: (options) => {
    const mutex = new RecursiveMutex(options)
    const hold = () => {
      let release
      mutex.runExclusive(() => new Promise((resolve) => (release = resolve)))
      return () => release()
    }
    return {
      hold,
      run: (callback) => mutex.runExclusive(callback, now),
      isFree: () => !mutex.isLocked(),
    }
  },
  'Semaphore of too few units': (options) => {
    const semaphore = new Semaphore(3, options)
    return {
      hold: () => semaphore.tryAcquire(2)[1],
      acquire: () => semaphore.acquire(2, now),
      run: (callback) => semaphore.runExclusive(callback, { weight: 2, ...now }),
      isFree: () => semaphore.getValue() === 3,
    }
  },
  'RWLock that is written, to read': (options) => {
    const lock = new RWLock(options)
    return {
      hold: () => lock.tryAcquireWrite(),
      acquire: () => lock.acquireRead(now),
      run: (callback) => lock.runShared(callback, now),
      isFree: () => !lock.isLocked(),
    }
  },
  'RWLock that is read, to write': (options) => {
    const lock = new RWLock(options)
    return {
      hold: () => lock.tryAcquireRead(),
      acquire: () => lock.acquireWrite(now),
      run: (callback) => lock.runExclusive(callback, now),
      isFree: () => !lock.isLocked(),
    }
  },
  'RWLock, to upgrade': (options) => {
    const lock = new RWLock(options)
    const upgrade = async () => {
      const reader = lock.tryAcquireRead()
      const writer = await reader.upgrade(now)
      reader()
      return writer
    }
    return { hold: () => lock.tryAcquireRead(), acquire: upgrade, isFree: () => !lock.isLocked() }
  },
  KeyedMutex: (options) => {
    const locks = new KeyedMutex(options)
    return {
      hold: () => locks.tryAcquire('a'),
      acquire: () => locks.acquire('a', now),
      run: (callback) => locks.runExclusive('a', callback, now),
      isFree: () => locks.size === 0,
    }
  },
  'KeyedMutex, several keys': (options) => {
    const locks = new KeyedMutex(options)
    return {
      hold: () => locks.tryAcquire('b'),
      acquire: () => locks.acquire(['c', 'b', 'a'], now),
      run: (callback) => locks.runExclusive(['a', 'b', 'c'], callback, now),
      isFree: () => locks.size === 0,
    }
  },
  KeyedSemaphore: (options) => {
    const locks = new KeyedSemaphore(2, options)
    return {
      hold: () => locks.tryAcquire('a', 2)[1],
      acquire: () => locks.acquire('a', now),
      run: (callback) => locks.runExclusive('a', callback, 1, now),
      isFree: () => locks.size === 0,
    }
  },
  'KeyedSemaphore, several keys': (options) => {
    const locks = new KeyedSemaphore(2, options)
    return {
      hold: () => locks.tryAcquire('b', 2)[1],
      acquire: () => locks.acquire(['a', 'b'], now),
      run: (callback) => locks.runExclusive(['a', 'b'], callback, now),
      isFree: () => locks.size === 0,
    }
  },
  KeyedRWLock: (options) => {
    const locks = new KeyedRWLock(options)
    return {
      hold: () => locks.tryAcquireRead('a'),
      acquire: () => locks.acquireWrite('a', now),
      run: (callback) => locks.runExclusive(['b', 'a'], callback, now),
      isFree: () => locks.size === 0,
    }
  },
  DiningPhilosophers: (options) => {
    const table = new DiningPhilosophers(3, options)
    return {
      hold: () => table.tryBegin(0),
      acquire: () => table.begin(1, now),
      run: (callback) => table.runExclusive(1, callback, now),
      isFree: () => table.tryBegin(1)?.() === undefined,
    }
  },
  'withTimeout of a Mutex': (options) => {
    const mutex = new Mutex(options)
    const limited = withTimeout(mutex, 1000)
    return {
      hold: () => mutex.tryAcquire(),
      acquire: () => limited.acquire(now),
      run: (callback) => limited.runExclusive(callback, now),
      isFree: () => !mutex.isLocked(),
    }
  },
  'tryAcquire of a Semaphore': (options) => {
    const semaphore = new Semaphore(1, options)
    const limited = tryAcquire(semaphore)
    return {
      hold: () => semaphore.tryAcquire()[1],
      acquire: () => limited.acquire(now),
      run: (callback) => limited.runExclusive(callback, now),
      isFree: () => semaphore.getValue() === 1,
    }
  },
}

const releaserOf = (got) => (Array.isArray(got) ? got[1] : got)

// test/cluster/engines_singles.test.js has the same over an engine.
for (const scope of ['thread', 'process', 'host']) {
  describe(`ifAvailable in the scope ${scope}`, () => {
    const optionsOf = scopes[scope]()

    for (const [kind, make] of Object.entries(kinds)) {
      if (kind === 'DiningPhilosophers' && scope === 'host') continue
      it(`${kind}: acquires a free lock, else gives undefined`, async () => {
        const { hold, acquire, run, isFree } = make(await optionsOf())
        const release = hold()
        if (acquire !== undefined) assert.equal(await acquire(), undefined)
        if (run !== undefined) assert.equal(await run(fail), undefined)
        release()
        if (kind === 'RecursiveMutex') await null
        if (acquire !== undefined) {
          const got = releaserOf(await acquire())
          assert.equal(typeof got, 'function')
          got()
        }
        if (run !== undefined) assert.equal(await run(() => 'ran'), 'ran')
        assert.ok(isFree())
      })
    }

    it('leaves no waiter behind, and does not make other callers wait', async () => {
      const mutex = new Mutex(await optionsOf())
      const release = mutex.tryAcquire()
      const waiting = mutex.acquire()
      assert.equal(await mutex.acquire(now), undefined)
      assert.equal(mutex.snapshot().waiting, 1)
      release()
      ;(await waiting)()
      assert.equal(mutex.isLocked(), false)
    })

    it('is refused to a caller whose signal has aborted', async () => {
      const mutex = new Mutex(await optionsOf())
      const aborted = { ...now, signal: AbortSignal.abort() }
      await assert.rejects(mutex.acquire(aborted), { name: 'AbortError' })
      assert.equal(mutex.isLocked(), false)
    })

    it('must be a boolean, and is refused if it would have no effect', async () => {
      const mutex = new Mutex(await optionsOf())
      const semaphore = new Semaphore(1, await optionsOf())
      const locks = new KeyedSemaphore(1, await optionsOf())
      assert.throws(() => mutex.lock(now), /unknown option "ifAvailable"/)
      assert.throws(() => mutex.waitForUnlock(now), /unknown option "ifAvailable"/)
      assert.throws(() => semaphore.waitForUnlock(1, now), /unknown option "ifAvailable"/)
      assert.throws(() => semaphore.waitForUnlock(now), /unknown option "ifAvailable"/)
      assert.throws(() => locks.waitForUnlock('a', 1, now), /unknown option "ifAvailable"/)
      await assert.rejects(semaphore.map([1], fail, now), /unknown option "ifAvailable"/)
      assert.throws(() => mutex.acquire({ ifAvailable: 1 }), {
        name: 'TypeError',
        message: 'ifAvailable must be a boolean, not 1',
      })
      const blocking = new Mutex({ ...(await optionsOf()), allowBlockingMainThread: true })
      assert.throws(() => blocking.acquireSync(now), /blocking calls take no ifAvailable/)
      assert.equal(mutex.isLocked(), false)
    })

    it('lets limit() skip calls that would wait', async () => {
      const semaphore = new Semaphore(1, await optionsOf())
      let end
      const limited = semaphore.limit(
        (value) => new Promise((resolve) => (end = () => resolve(value))),
        now,
      )
      const first = limited('first')
      assert.equal(await limited('second'), undefined)
      end()
      assert.equal(await first, 'first')
    })
  })
}
