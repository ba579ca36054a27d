'use strict'
const { Mutex, Semaphore } = require('../..')

/** The common interface of Mutex and Semaphore(1), for tests of both. */
const kinds = [
  {
    name: 'Mutex',
    make: (...args) => new Mutex(...args),
    acquire: (lock, options) => lock.acquire(options),
    tryAcquire: (lock) => lock.tryAcquire(),
    run: (lock, method, callback, options) => lock[method](callback, options),
    watch: (lock, options) => lock.waitForUnlock(options),
    /** The releaser in the result of acquire. */
    releaser: (given) => given,
  },
  {
    name: 'Semaphore',
    make: (...args) => new Semaphore(1, ...args),
    acquire: (lock, options) => lock.acquire(1, options),
    tryAcquire: (lock) => lock.tryAcquire()?.[1],
    run: (lock, method, callback, options) => lock[method](callback, 1, options),
    watch: (lock, options) => lock.waitForUnlock(1, options),
    releaser: ([, release]) => release,
  },
]

/** The ways of waiting for a lock: each returns a promise. */
const waits = {
  acquire: (kind, lock, options) => kind.acquire(lock, options),
  runExclusive: (kind, lock, options, callback = () => {}) =>
    kind.run(lock, 'runExclusive', callback, options),
  executeLocked: (kind, lock, options, callback = () => {}) =>
    kind.run(lock, 'executeLocked', callback, options),
  waitForUnlock: (kind, lock, options) => kind.watch(lock, options),
}

/** A held lock, its holder, and a log. */
async function held(kind, ...args) {
  const lock = kind.make(...args)
  const release = kind.releaser(await kind.acquire(lock))
  return { lock, release, log: [] }
}

module.exports = { held, kinds, waits }
