'use strict'
// The kinds of locks that threads share, for tests of all of them. What a test wants of a kind:
//
//   permits     how much there is; each entry takes a weight of 1 to `heaviest`
//   create()    makes one, and gives what other threads find it by, to be posted to them
//   find(at)    the lock, in any thread
//   ways        to enter by a promise: enter(lock, weight, options) resolves to what lets go.
//               `isOrdered`: the moments when they are in, seen from JavaScript, are in the order of
//               admission (with several permits, a way that takes more microtasks is not)
//   enterSync   blocks, and gives what lets go
//   tryEnter    now (what lets go), or undefined
//   isIdle      nobody holds any of it
const { Mutex } = require('../..')

const asRelease = (run) =>
  new Promise((resolve, reject) => {
    run(() => new Promise((done) => resolve(done))).catch(reject)
  })

const kinds = {
  mutex: {
    permits: 1,
    heaviest: 1,
    create: () => ({ buffer: new Mutex().buffer }),
    find: (at) => new Mutex(at),
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
  },
}

module.exports = { asRelease, kinds }
