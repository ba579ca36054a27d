'use strict'
// The kinds of locks that threads share, for tests of all of them. A kind has:
//
//   permits     the units of the lock; each entry takes one of `weights`
//   together    the weight of readers, which need no order among themselves; else undefined
//   upgradeWeight   the additional weight of an upgrading reader
//   create()    makes one, and returns a message by which other threads find it
//   find(at)    the lock, in any thread
//   ways        to enter by a promise: enter(lock, weight, options) resolves to a ticket.
//               `isOrdered`: JavaScript sees the grants in the order of admission
//               (with several permits, a way that takes more microtasks is not)
//   releaseOf   the function that releases, from the result of a way
//   enterSync   blocks, and returns the function that releases
//   tryEnter    the same without waiting, or undefined
//   isIdle      no caller holds any of it
const { KeyedMutex, KeyedRWLock, Mutex, RWLock, Semaphore } = require('../..')

const asRelease = (run) =>
  new Promise((resolve, reject) => {
    run(() => new Promise((done) => resolve(done))).catch(reject)
  })

const mutex = {
  permits: 1,
  weights: [1],
  create: () => ({ buffer: new Mutex({ shared: true }).buffer }),
  find: (at) => new Mutex(at),
  releaseOf: (release) => release,
  ways: {
    acquire: { isOrdered: true, enter: (lock, _weight, options) => lock.acquire(options) },
    lock: {
      isOrdered: true,
      enter: (lock, _weight, options) => lock.lock(options).then(() => () => lock.unlock()),
    },
    runExclusive: {
      isOrdered: true,
      enter: (lock, _weight, options) => asRelease((fn) => lock.runExclusive(fn, options)),
    },
  },
  enterSync: (lock, _weight, options) => {
    lock.lockSync(options)
    return () => lock.unlock()
  },
  tryEnter: (lock) => lock.tryAcquire(),
  isIdle: (lock) => !lock.isLocked(),
}

const permits = 5
const releaseOf = (ticket) => (Array.isArray(ticket) ? ticket[1] : ticket)

let names = 0
const byName = () => ({ name: `shared ${++names}` })

// More readers than there may be at once: a writer takes them all.
const everybody = 1024
const modeOf = (weight) => (weight === everybody ? 'Write' : 'Read')

const rwLock = {
  permits: everybody,
  weights: [1, 1, 1, everybody],
  together: 1,
  upgradeWeight: everybody - 1,
  create: () => ({ buffer: new RWLock({ shared: true }).buffer }),
  find: (at) => new RWLock(at),
  releaseOf: (release) => release,
  ways: {
    acquire: {
      isOrdered: true,
      enter: (lock, weight, options) => lock[`acquire${modeOf(weight)}`](options),
    },
    run: {
      // It takes more microtasks than the other.
      isOrdered: false,
      enter: (lock, weight, options) =>
        asRelease((fn) =>
          weight === everybody ? lock.runExclusive(fn, options) : lock.runShared(fn, options),
        ),
    },
  },
  enterSync: (lock, weight, options) => lock[`acquire${modeOf(weight)}Sync`](options),
  tryEnter: (lock, weight) => lock[`tryAcquire${modeOf(weight)}`](),
  isIdle: (lock) => !lock.isLocked(),
}

const kinds = {
  mutex,
  'mutex with a name': { ...mutex, create: byName },
  semaphore: {
    permits,
    weights: [1, 2, 3],
    create: () => ({ buffer: new Semaphore(permits, { shared: true }).buffer }),
    find: (at) => new Semaphore(permits, at),
    releaseOf,
    ways: {
      acquire: {
        // A caller admitted by another thread may learn of it after a caller admitted later by its own thread.
        isOrdered: false,
        enter: (lock, weight, options) => lock.acquire({ ...options, weight }),
      },
      runExclusive: {
        isOrdered: false,
        enter: (lock, weight, options) =>
          asRelease((fn) => lock.runExclusive(fn, { ...options, weight })),
      },
    },
    enterSync: (lock, weight, options) => releaseOf(lock.acquireSync(weight, options)),
    tryEnter: (lock, weight) => lock.tryAcquire(weight)?.[1],
    isIdle: (lock) => lock.getValue() === permits,
  },
  'keyed mutex': {
    permits: 1,
    weights: [1],
    create: byName,
    find: (at) => {
      const locks = new KeyedMutex(at)
      return { locks, cancel: () => locks.cancel('a') }
    },
    releaseOf: (release) => release,
    ways: {
      acquire: {
        isOrdered: true,
        enter: ({ locks }, _weight, options) => locks.acquire('a', options),
      },
      runExclusive: {
        isOrdered: true,
        enter: ({ locks }, _weight, options) =>
          asRelease((fn) => locks.runExclusive('a', fn, options)),
      },
    },
    enterSync: ({ locks }, _weight, options) => locks.acquireSync('a', options),
    tryEnter: ({ locks }) => locks.tryAcquire('a'),
    isIdle: ({ locks }) => locks.size === 0,
  },
  'read-write lock': rwLock,
  'read-write lock with a name': { ...rwLock, create: byName },
  'keyed read-write lock': {
    ...rwLock,
    create: byName,
    find: (at) => {
      const locks = new KeyedRWLock(at)
      const ofKey = { locks, cancel: () => locks.cancel('a') }
      for (const mode of ['Read', 'Write']) {
        for (const method of [`acquire${mode}`, `tryAcquire${mode}`, `acquire${mode}Sync`]) {
          ofKey[method] = (options) => locks[method]('a', options)
        }
      }
      for (const run of ['runShared', 'runExclusive']) {
        ofKey[run] = (callback, options) => locks[run]('a', callback, options)
      }
      return ofKey
    },
    isIdle: ({ locks }) => locks.size === 0,
  },
}

module.exports = { asRelease, kinds }
