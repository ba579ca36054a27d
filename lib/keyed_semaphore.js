'use strict'
const { lockError } = require('./errors.js')
const { Home, nameOf } = require('./home.js')
const { acquireMany, tryAcquireMany } = require('./many.js')
const { checkCallback, readCancelError } = require('./options.js')
const { checkedValue, readAcquire, SemaphoreCore } = require('./semaphore_core.js')

class KeyedSemaphore {
  #home
  #value

  constructor(value, options = {}) {
    checkedValue(value)
    if (value < 1) throw new RangeError(`value must be 1 or more, not ${value}`)
    this.#value = value
    this.#home = new Home([], () => new SemaphoreCore(value), readCancelError(options))
  }

  acquire(key, weight, options) {
    const asked = this.#read(weight, options)
    if (Array.isArray(key)) return this.#acquireMany(key, asked)
    return this.#home.with(key, (core) => core.acquire(asked.weight, asked.limits))
  }

  async #acquireMany(keys, { weight, limits }) {
    const values = []
    const release = await acquireMany(keys, limits, async (key, limits) => {
      const [value, release] = await this.acquire(key, weight, limits)
      values.push(value)
      return release
    })
    return [values, release]
  }

  tryAcquire(key, weight) {
    const asked = this.#read(weight)
    if (!Array.isArray(key)) return this.#home.with(key, (core) => core.tryAcquire(asked.weight))
    const values = []
    const release = tryAcquireMany(key, (one) => {
      const [value, release] = this.tryAcquire(one, weight) ?? []
      values.push(value)
      return release
    })
    return release === undefined ? undefined : [values, release]
  }

  async runExclusive(key, callback, weight, options) {
    checkCallback(callback)
    const [value, release] = await this.acquire(key, weight, options)
    try {
      return await callback(value)
    } finally {
      release()
    }
  }

  executeLocked(key, callback, weight, options) {
    return this.runExclusive(key, callback, weight, options)
  }

  release(key, weight) {
    const asked = this.#read(weight)
    const core = this.#home.find(key)
    if (core === undefined || core.getValue() > this.#value - asked.weight) {
      const message = `the semaphore of key ${nameOf(key)} would have more than ${this.#value}`
      throw lockError('ERR_LOCK_RANGE', message, RangeError)
    }
    core.release(asked.weight)
  }

  waitForUnlock(key, weight, options) {
    const asked = this.#read(weight, options)
    return this.#home.with(key, (core) => core.waitForUnlock(asked.weight, asked.limits))
  }

  isLocked(key) {
    return this.#home.find(key)?.isLocked() ?? false
  }

  getValue(key) {
    return this.#home.find(key)?.getValue() ?? this.#value
  }

  cancel(key, reason) {
    this.#home.find(key)?.cancel(reason)
  }

  cancelAll(reason) {
    for (const core of this.#home.busy()) core.cancel(reason)
  }

  get size() {
    return this.#home.size
  }

  keys() {
    return this.#home
      .busy()
      .map((core) => core.key)
      .values()
  }

  snapshot() {
    return this.#home.busy().map((core) => ({
      key: core.key,
      value: core.getValue(),
      waiting: core.queueSize(),
    }))
  }

  /** What is asked for; more than there ever is would wait for ever. */
  #read(weight, options) {
    const asked = readAcquire(weight, options)
    if (asked.weight > this.#value) {
      throw new RangeError(
        `weight ${asked.weight} is more than the value ${this.#value} of each key`,
      )
    }
    return asked
  }
}

module.exports = { KeyedSemaphore }
