'use strict'
// The locks that can be closed, for tests of every scope.
const boxoffice = require('../..')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = boxoffice
const { Mutex, RecursiveMutex, RWLock, Semaphore, withTimeout } = boxoffice

const now = { ifAvailable: true }
const soon = { timeout: 20 }
const fail = () => {
  throw new Error('it was called')
}

/** Resolves to the function that releases a lock held by `run(callback)`. */
function heldBy(run) {
  return new Promise((resolve, reject) => {
    const letGo = (end) => () => {
      end()
      return ended
    }
    const ended = run(() => new Promise((end) => resolve(letGo(end))))
    ended.catch(reject)
  })
}

/**
 * Each is { lock, title, hold, wait, waits, blocks }: `hold()` resolves to a function that
 * releases, and so does `wait()`, which may have to wait; by default they are the same. `waits` are
 * the acquiring methods with a promise, and `blocks` those without.
 */
const closables = {
  Mutex: (options) => {
    const lock = new Mutex(options)
    return {
      lock,
      title: 'the mutex',
      hold: () => lock.acquire(),
      waits: {
        acquire: () => lock.acquire(),
        'acquire with options': () => lock.acquire(soon),
        'acquire ifAvailable': () => lock.acquire(now),
        lock: () => lock.lock(),
        runExclusive: () => lock.runExclusive(fail),
        executeLocked: () => lock.executeLocked(fail, soon),
        waitForUnlock: () => lock.waitForUnlock(),
      },
      blocks: {
        tryAcquire: () => lock.tryAcquire(),
        tryLock: () => lock.tryLock(),
        lockSync: () => lock.lockSync(),
        acquireSync: () => lock.acquireSync(),
        runExclusiveSync: () => lock.runExclusiveSync(fail),
      },
    }
  },
  RecursiveMutex: (options) => {
    const lock = new RecursiveMutex(options)
    return {
      lock,
      title: 'the recursive mutex',
      hold: () => heldBy((callback) => lock.runExclusive(callback)),
      waits: {
        runExclusive: () => lock.runExclusive(fail),
        executeLocked: () => lock.executeLocked(fail, now),
      },
      blocks: { runExclusiveSync: () => lock.runExclusiveSync(fail) },
    }
  },
  Semaphore: (options) => {
    const lock = new Semaphore(2, options)
    return {
      lock,
      title: 'the semaphore',
      hold: async () => (await lock.acquire(2))[1],
      waits: {
        acquire: () => lock.acquire(),
        'acquire with options': () => lock.acquire({ weight: 2, ...soon }),
        'acquire ifAvailable': () => lock.acquire(1, now),
        runExclusive: () => lock.runExclusive(fail, 2),
        executeLocked: () => lock.executeLocked(fail, 1, soon),
        waitForUnlock: () => lock.waitForUnlock(2),
        limit: () => lock.limit(fail)(),
        map: () => lock.map([1, 2], fail),
      },
      blocks: {
        tryAcquire: () => lock.tryAcquire(2),
        acquireSync: () => lock.acquireSync(),
        runExclusiveSync: () => lock.runExclusiveSync(fail, 2),
      },
    }
  },
  'RWLock, held by a reader': (options) => rwLock(options, (lock) => lock.acquireRead()),
  'RWLock, held by a writer': (options) => rwLock(options, (lock) => lock.acquireWrite()),
  KeyedMutex: (options) => {
    const lock = new KeyedMutex(options)
    return {
      lock,
      title: 'the mutex of key "a"',
      hold: () => lock.acquire('a'),
      waits: {
        acquire: () => lock.acquire('a'),
        'acquire with options': () => lock.acquire('a', soon),
        'acquire ifAvailable': () => lock.acquire('a', now),
        'acquire several keys': () => lock.acquire(['b', 'a']),
        lock: () => lock.lock('a'),
        runExclusive: () => lock.runExclusive('a', fail),
        'runExclusive of several keys': () => lock.runExclusive(['a', 'b'], fail),
        executeLocked: () => lock.executeLocked('a', fail, soon),
        waitForUnlock: () => lock.waitForUnlock('a'),
      },
      blocks: {
        tryAcquire: () => lock.tryAcquire('a'),
        'tryAcquire of several keys': () => lock.tryAcquire(['a', 'b']),
        tryLock: () => lock.tryLock('a'),
        lockSync: () => lock.lockSync('a'),
        acquireSync: () => lock.acquireSync('a'),
        runExclusiveSync: () => lock.runExclusiveSync('a', fail),
      },
    }
  },
  KeyedSemaphore: (options) => {
    const lock = new KeyedSemaphore(2, options)
    return {
      lock,
      title: 'the semaphore of key "a"',
      hold: async () => (await lock.acquire('a', 2))[1],
      waits: {
        acquire: () => lock.acquire('a'),
        'acquire several keys': () => lock.acquire(['a', 'b'], 2),
        runExclusive: () => lock.runExclusive('a', fail, 1, soon),
        waitForUnlock: () => lock.waitForUnlock('a'),
      },
      blocks: {
        tryAcquire: () => lock.tryAcquire('a'),
        acquireSync: () => lock.acquireSync('a'),
        runExclusiveSync: () => lock.runExclusiveSync('a', fail),
      },
    }
  },
  KeyedRWLock: (options) => {
    const lock = new KeyedRWLock(options)
    return {
      lock,
      title: 'the read-write lock of key "a"',
      hold: () => lock.acquireWrite('a'),
      waits: {
        acquireRead: () => lock.acquireRead('a'),
        acquireWrite: () => lock.acquireWrite(['a', 'b'], soon),
        runShared: () => lock.runShared('a', fail),
        runExclusive: () => lock.runExclusive('a', fail),
      },
      blocks: {
        tryAcquireRead: () => lock.tryAcquireRead('a'),
        tryAcquireWrite: () => lock.tryAcquireWrite(['a']),
        acquireReadSync: () => lock.acquireReadSync('a'),
        acquireWriteSync: () => lock.acquireWriteSync('a'),
        runSharedSync: () => lock.runSharedSync('a', fail),
        runExclusiveSync: () => lock.runExclusiveSync('a', fail),
      },
    }
  },
  'withTimeout of a Mutex': (options) => limited(new Mutex(options), 'the mutex'),
  'withTimeout of a Semaphore': (options) => limited(new Semaphore(1, options), 'the semaphore'),
}

function rwLock(options, acquire) {
  const lock = new RWLock(options)
  return {
    lock,
    title: 'the read-write lock',
    hold: () => acquire(lock),
    wait: () => lock.acquireWrite(),
    waits: {
      acquireRead: () => lock.acquireRead(),
      acquireWrite: () => lock.acquireWrite(soon),
      runShared: () => lock.runShared(fail),
      runExclusive: () => lock.runExclusive(fail, now),
    },
    blocks: {
      tryAcquireRead: () => lock.tryAcquireRead(),
      tryAcquireWrite: () => lock.tryAcquireWrite(),
      acquireReadSync: () => lock.acquireReadSync(),
      acquireWriteSync: () => lock.acquireWriteSync(),
      runSharedSync: () => lock.runSharedSync(fail),
      runExclusiveSync: () => lock.runExclusiveSync(fail),
    },
  }
}

function limited(whole, title) {
  const lock = withTimeout(whole, 1000)
  return {
    lock,
    title,
    hold: async () => [await lock.acquire()].flat().at(-1),
    waits: {
      acquire: () => lock.acquire(),
      runExclusive: () => lock.runExclusive(fail),
      waitForUnlock: () => lock.waitForUnlock(),
    },
    blocks: {},
  }
}

/**
 * Whether `promise` has settled: called when this thread is idle, so a pending promise stays
 * pending unless other code acts.
 */
async function isPending(promise) {
  const pending = {}
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.race([promise, pending])) === pending
}

module.exports = { closables, isPending }
