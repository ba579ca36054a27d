'use strict'
// The decorators of async-mutex, which limit every wait of the decorated lock. As in async-mutex, their methods are
// closures that need no `this`.
const { withDeadline } = require('../core/following.js')
const { E_ALREADY_LOCKED, E_TIMEOUT } = require('../core/errors.js')
const {
  acquireOptions,
  checkMilliseconds,
  readWait,
  waitOptions,
  weightedAcquireOptions,
  weightedWaitOptions,
} = require('../core/options.js')
const { keyedMark, signalMark } = require('../core/receiver.js')
const { releaserOf, run } = require('../core/run.js')
const { isOptions } = require('../core/units.js')
const { defaultsOf, kindOf } = require('./base.js')

/** The limits of decorated locks, as limitsOf() returns them. */
const decorated = new WeakMap()

/** Returns `usual`, the `timeout` of the lock's constructor, and `most`, the shortest limit of its decorators. */
function limitsOf(lock) {
  const usual = kindOf(lock) && defaultsOf(lock)?.timeout
  return decorated.get(lock) ?? { usual, most: Infinity }
}

/** `lock` is a Mutex, a Semaphore, a decorated lock, or any object with their methods. */
function withTimeout(lock, limitOfWaits, error = E_TIMEOUT) {
  checkSingle(lock)
  const timeout = readLimit(limitOfWaits)
  const isSemaphore = lock.getValue !== undefined
  const scope = lock[signalMark]
  const { usual, most } = limitsOf(lock)
  // Other versions of this package mark a decorator of a lock without signals by `false`.
  const within = scope ? limit : race

  /**
   * Calls wait(...how) with the limit added to its options, which are in `known`. `how` is [weight,] [priority or
   * options].
   */
  function limit(wait, how, known) {
    const at = isSemaphore && !isOptions(how[0]) ? 1 : 0
    const given = readOptions(how[at], known)
    if (scope === 'cluster') {
      // Only the engine knows whether the lock is held or the server does not answer.
      const { timeout: own = usual } = given
      if (own <= timeout || most <= timeout) return wait(...how)
      how.splice(at, 1, { ...given, timeout })
      return wait(...how).catch((thrown) => {
        throw thrown?.code === 'ERR_LOCK_TIMEOUT' ? error : thrown
      })
    }
    const deadline = withDeadline(given.signal, timeout, () => error)
    let promise
    try {
      how.splice(at, 1, { ...given, signal: deadline.signal })
      promise = wait(...how)
    } catch (thrown) {
      deadline.end()
      throw thrown
    }
    deadline.start()
    return promise.finally(deadline.end)
  }

  /**
   * Limits a wait of a lock that takes no signal. Releases a grant that comes too late at once.
   */
  function race(wait, how) {
    const promise = wait(...how)
    return new Promise((resolve, reject) => {
      let isLate = false
      const deadline = withDeadline(undefined, timeout, () => {
        isLate = true
        reject(error)
      })
      deadline.start()
      const settled = promise.finally(deadline.end)
      settled.then((ticket) => (isLate ? releaserOf(ticket)?.() : resolve(ticket)), reject)
    })
  }

  const acquiring = isSemaphore ? weightedAcquireOptions : acquireOptions
  const watching = isSemaphore ? weightedWaitOptions : waitOptions
  const acquire = (...how) => within((...all) => lock.acquire(...all), how, acquiring)

  const limited = {
    acquire,
    runExclusive: (callback, ...how) => run(callback, () => acquire(...how)),
    waitForUnlock: (...how) => within((...all) => lock.waitForUnlock(...all), how, watching),
  }
  for (const method of [
    'isLocked',
    'release',
    'cancel',
    'getValue',
    'setValue',
    'close',
    'onIdle',
  ]) {
    if (typeof lock[method] === 'function') limited[method] = (given) => lock[method](given)
  }
  decorated.set(limited, { usual, most: Math.min(most, timeout) })
  return Object.defineProperty(limited, signalMark, { __proto__: null, value: scope })
}

function checkSingle(lock) {
  if (lock?.[keyedMark] === true) {
    throw new TypeError(
      'a keyed lock cannot be decorated: give each wait its limit, as in acquire(key, { timeout: 50 })',
    )
  }
  if (typeof lock?.acquire !== 'function' || typeof lock.isLocked !== 'function') {
    throw new TypeError(
      'lock must have acquire() and isLocked(), as a Mutex or a Semaphore has: give other locks a timeout in their constructor',
    )
  }
}

/**
 * Reads a limit as async-mutex does, by the rules of setTimeout(): a negative limit and NaN have run out. The
 * exceptions are `Infinity` and limits too long for a timer: they mean no limit, where setTimeout() would fire after 1
 * ms.
 */
function readLimit(given) {
  if (given === undefined) return 0
  const limit = typeof given === 'string' ? Number(given) : given
  checkMilliseconds('timeout', typeof given === 'string' && Number.isNaN(limit) ? given : limit)
  return limit > 0 ? limit : 0
}

/** Reads the limits of a wait, with its weight if the options have one. */
function readOptions(given, known) {
  const limits = readWait(given, known)
  return isOptions(given) && 'weight' in given ? { ...limits, weight: given.weight } : limits
}

function tryAcquire(lock, error = E_ALREADY_LOCKED) {
  return withTimeout(lock, 0, error)
}

module.exports = { tryAcquire, withTimeout }
