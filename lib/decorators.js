'use strict'
// async-mutex's decorators of a lock: every wait of theirs has an end.
const { E_ALREADY_LOCKED, E_TIMEOUT } = require('./errors.js')

/** `lock` is a Mutex, a Semaphore or a lock that has been decorated before. */
class Limited {
  #lock
  #timeout
  #error

  constructor(lock, timeout, error) {
    this.#lock = lock
    this.#timeout = timeout
    this.#error = error
  }

  acquire(...how) {
    return this.#within((signal) => this.#lock.acquire(...withSignal(this.#lock, how, signal)))
  }

  async runExclusive(callback, ...how) {
    const ticket = await this.acquire(...how)
    const [value, release] = Array.isArray(ticket) ? ticket : [undefined, ticket]
    try {
      return await callback(value)
    } finally {
      release()
    }
  }

  waitForUnlock(...how) {
    return this.#within((signal) =>
      this.#lock.waitForUnlock(...withSignal(this.#lock, how, signal)),
    )
  }

  isLocked() {
    return this.#lock.isLocked()
  }

  release(weight) {
    this.#lock.release(weight)
  }

  cancel(reason) {
    this.#lock.cancel(reason)
  }

  #within(wait) {
    const controller = new AbortController()
    const promise = wait(controller.signal)
    const late = () => controller.abort(this.#error)
    const timer = globalThis.setTimeout(late, this.#timeout)
    const stop = () => globalThis.clearTimeout(timer)
    promise.then(stop, stop)
    return promise
  }
}

class LimitedSemaphore extends Limited {
  #lock

  constructor(lock, timeout, error) {
    super(lock, timeout, error)
    this.#lock = lock
  }

  getValue() {
    return this.#lock.getValue()
  }

  setValue(value) {
    this.#lock.setValue(value)
  }
}

/** The arguments of a wait with one more signal: `how` is [weight,] [priority or options]. */
function withSignal(lock, how, signal) {
  const first = isSemaphore(lock) && typeof how[0] !== 'object' ? [how[0]] : []
  const options = how[first.length]
  const given = typeof options === 'object' ? options : { priority: options }
  const both = given?.signal === undefined ? signal : AbortSignal.any([given.signal, signal])
  return [...first, { ...given, signal: both }]
}

function isSemaphore(lock) {
  return lock.getValue !== undefined
}

function withTimeout(lock, timeout, error = E_TIMEOUT) {
  return isSemaphore(lock)
    ? new LimitedSemaphore(lock, timeout, error)
    : new Limited(lock, timeout, error)
}

function tryAcquire(lock, error = E_ALREADY_LOCKED) {
  return withTimeout(lock, 0, error)
}

module.exports = { tryAcquire, withTimeout }
