'use strict'
// async-mutex's decorators of a lock: every wait of theirs has an end. As there, the methods are
// functions of their own, which need no `this`.
const { withDeadline } = require('../core/deadline.js')
const { E_ALREADY_LOCKED, E_TIMEOUT } = require('../core/errors.js')
const { Keyed } = require('./keyed.js')
const { Mutex } = require('./mutex.js')
const {
  acquireOptions,
  checkKnown,
  checkObject,
  checkSignal,
  weightedAcquireOptions,
} = require('../core/options.js')
const { Semaphore } = require('./semaphore.js')

const decorated = new WeakSet()

/** `lock` is a Mutex, a Semaphore, a decorated lock, or whatever else has their methods. */
function withTimeout(lock, limitOfWaits, error = E_TIMEOUT) {
  if (typeof lock?.acquire !== 'function') throw new TypeError('lock must have acquire()')
  if (lock instanceof Keyed) {
    throw new TypeError(
      'withTimeout() takes no keyed lock: give each wait its limit, as in acquire(key, { timeout: 50 })',
    )
  }
  const timeout = readLimit(limitOfWaits)
  const isSemaphore = lock.getValue !== undefined
  const isOurs = lock instanceof Mutex || lock instanceof Semaphore || decorated.has(lock)
  const within = isOurs ? limit : race

  /** `wait(...how)` with one more limit; `how` is [weight,] [priority or options]. */
  function limit(wait, how) {
    const first = isSemaphore && !isOptions(how[0]) ? [how[0]] : []
    const given = readOptions(how[first.length], isSemaphore)
    const deadline = withDeadline(given.signal, timeout, () => error)
    let promise
    try {
      promise = wait(...first, { ...given, signal: deadline.signal })
    } catch (thrown) {
      deadline.end()
      throw thrown
    }
    deadline.start()
    return promise.finally(deadline.end)
  }

  /** The same for a lock that knows no signals: what it grants too late goes back at once. */
  function race(wait, how) {
    const promise = wait(...how)
    return new Promise((resolve, reject) => {
      let isLate = false
      const deadline = withDeadline(undefined, timeout, () => error)
      deadline.signal.addEventListener('abort', () => {
        isLate = true
        reject(deadline.signal.reason)
      })
      deadline.start()
      const settled = promise.finally(deadline.end)
      settled.then((ticket) => (isLate ? releaserOf(ticket)?.() : resolve(ticket)), reject)
    })
  }

  const acquire = (...how) => within((...all) => lock.acquire(...all), how)

  async function runExclusive(callback, ...how) {
    const ticket = await acquire(...how)
    if (ticket === undefined) return undefined
    try {
      return await (isSemaphore ? callback(...ticket) : callback(ticket))
    } finally {
      releaserOf(ticket)()
    }
  }

  const limited = {
    acquire,
    runExclusive,
    waitForUnlock: (...how) => within((...all) => lock.waitForUnlock(...all), how),
    isLocked: () => lock.isLocked(),
    release: (weight) => lock.release(weight),
    cancel: (reason) => lock.cancel(reason),
  }
  if (isSemaphore) {
    limited.getValue = () => lock.getValue()
    limited.setValue = (value) => lock.setValue(value)
  }
  for (const method of ['close', 'onIdle']) {
    if (typeof lock[method] === 'function') limited[method] = () => lock[method]()
  }
  decorated.add(limited)
  return limited
}

/** A semaphore's ticket is [value, release]; waitForUnlock has none. */
const releaserOf = (ticket) => (Array.isArray(ticket) ? ticket[1] : ticket)

const isOptions = (value) => value !== undefined && typeof value !== 'number'

/**
 * What async-mutex gives to setTimeout: a limit that is negative or not a number has run out. Only `Infinity`, and all
 * other limits that are too long for a timer, are no limit here; setTimeout makes 1 ms of them.
 */
function readLimit(given) {
  if (given === undefined) return 0
  const limit = typeof given === 'string' ? Number(given) : given
  const isNoNumeral = typeof given === 'string' && Number.isNaN(limit)
  if (typeof limit !== 'number' || isNoNumeral) {
    throw new TypeError(`timeout must be a number of milliseconds, not ${String(given)}`)
  }
  return limit > 0 ? limit : 0
}

/** The lock itself checks what is in it. */
function readOptions(given, isSemaphore) {
  if (!isOptions(given)) return { priority: given }
  checkObject(given)
  checkKnown(given, isSemaphore ? weightedAcquireOptions : acquireOptions)
  const { priority, timeout, signal, ifAvailable } = given
  if (signal !== undefined) checkSignal(signal)
  const limits = { priority, timeout, signal }
  if (ifAvailable !== undefined) limits.ifAvailable = ifAvailable
  if ('weight' in given) limits.weight = given.weight
  return limits
}

function tryAcquire(lock, error = E_ALREADY_LOCKED) {
  return withTimeout(lock, 0, error)
}

module.exports = { tryAcquire, withTimeout }
