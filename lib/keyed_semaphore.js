'use strict'
const { lockError } = require('./errors.js')
const { Home, nameOf } = require('./home.js')
const { homeOf, Keyed } = require('./keyed.js')
const { acquireMany, tryAcquireMany } = require('./many.js')
const { checkCallback, readCancelError } = require('./options.js')
const { checkedValue, readAcquire, SemaphoreCore } = require('./semaphore_core.js')

class KeyedSemaphore extends Keyed {
  #value

  constructor(value, options = {}) {
    checkedValue(value)
    if (value < 1) throw new RangeError(`value must be 1 or more, not ${value}`)
    super(new Home([], () => new SemaphoreCore(value), readCancelError(options)))
    this.#value = value
  }

  acquire(key, weight, options) {
    const asked = this.#read(weight, options)
    if (Array.isArray(key)) return this.#acquireMany(key, asked)
    return homeOf(this).with(key, (core) => core.acquire(asked.weight, asked.limits))
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
    if (!Array.isArray(key)) return homeOf(this).with(key, (core) => core.tryAcquire(asked.weight))
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
    const core = homeOf(this).find(key)
    if (core === undefined || core.getValue() > this.#value - asked.weight) {
      const message = `the semaphore of key ${nameOf(key)} would have more than ${this.#value}`
      throw lockError('ERR_LOCK_RANGE', message, RangeError)
    }
    core.release(asked.weight)
  }

  waitForUnlock(key, weight, options) {
    const asked = this.#read(weight, options)
    return homeOf(this).with(key, (core) => core.waitForUnlock(asked.weight, asked.limits))
  }

  getValue(key) {
    return homeOf(this).find(key)?.getValue() ?? this.#value
  }

  snapshot() {
    return homeOf(this)
      .busy()
      .map((core) => ({
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
