'use strict'
// async-mutex's decorators of a lock: every wait of theirs has an end. As there, the methods are
// functions of their own, which need no `this`.
const { withDeadline } = require('./deadline.js')
const { E_ALREADY_LOCKED, E_TIMEOUT } = require('./errors.js')
const { checkObject, checkSignal } = require('./options.js')

/** `lock` is a Mutex, a Semaphore or a lock that has been decorated before. */
function withTimeout(lock, timeout, error = E_TIMEOUT) {
  const isSemaphore = lock.getValue !== undefined

  /** `wait(...how)` with one more limit; `how` is [weight,] [priority or options]. */
  function within(wait, how) {
    const first = isSemaphore && !isOptions(how[0]) ? [how[0]] : []
    const given = readOptions(how[first.length])
    const limit = withDeadline(given.signal, timeout, () => error)
    let promise
    try {
      promise = wait(...first, { ...given, signal: limit.signal })
    } catch (thrown) {
      limit.end()
      throw thrown
    }
    limit.start()
    promise.then(limit.end, limit.end)
    return promise
  }

  const acquire = (...how) => within((...all) => lock.acquire(...all), how)

  async function runExclusive(callback, ...how) {
    const ticket = await acquire(...how)
    const [args, release] = isSemaphore ? [[ticket[0]], ticket[1]] : [[], ticket]
    try {
      return await callback(...args)
    } finally {
      release()
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
  if (!isSemaphore) return limited
  return {
    ...limited,
    getValue: () => lock.getValue(),
    setValue: (value) => lock.setValue(value),
  }
}

const isOptions = (value) => value !== undefined && typeof value !== 'number'

/** The lock itself checks what is in it. */
function readOptions(given) {
  if (!isOptions(given)) return { priority: given }
  checkObject(given)
  const { weight, priority, timeout, signal } = given
  if (signal !== undefined) checkSignal(signal)
  return { weight, priority, timeout, signal }
}

function tryAcquire(lock, error = E_ALREADY_LOCKED) {
  return withTimeout(lock, 0, error)
}

module.exports = { tryAcquire, withTimeout }
