'use strict'
const { LocalSemaphore } = require('../core/semaphore.js')
const { checkedValue, readAcquire, readAcquireSync } = require('../core/units.js')
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const { blockingHomeOf, homeOf, Keyed, keyed, lateFor } = require('./keyed.js')
const { acquireMany, acquireManySync, tryAcquireMany } = require('./many.js')
const { checkCallback } = require('../core/options.js')
const { asTicket } = require('../core/releaser.js')

const kind = {
  class: 'KeyedSemaphore',
  base: keyed,
  name: 'semaphore',
  local: (value) => new LocalSemaphore(value),
  shared: (value) => new (require('../process/semaphore_core.js').SemaphoreCore)(value),
}

class KeyedSemaphore extends Keyed {
  #value

  constructor(value, options = {}) {
    checkedValue(value)
    if (value < 1) throw new RangeError(`value must be 1 or more, not ${value}`)
    super(kind, options, value)
    this.#value = value
  }

  acquire(key, weight, options) {
    const home = homeOf(this, kind, 'acquire')
    const asked = this.#read(weight, options)
    if (Array.isArray(key)) return this.#acquireMany(key, asked)
    return home.with(key, (core) => core.acquire(asked.weight, asked.limits))
  }

  async #acquireMany(keys, { weight, limits }) {
    const values = []
    const release = await acquireMany(
      keys,
      limits,
      async (key, limits) => {
        const [value, release] = await this.acquire(key, weight, limits)
        values.push(value)
        return release
      },
      lateFor(this),
    )
    return asTicket(values, release)
  }

  tryAcquire(key, weight) {
    const home = homeOf(this, kind, 'tryAcquire')
    const asked = this.#read(weight)
    if (!Array.isArray(key)) return home.with(key, (core) => core.tryAcquire(asked.weight))
    const values = []
    const release = tryAcquireMany(key, (one) => {
      const [value, release] = this.tryAcquire(one, weight) ?? []
      values.push(value)
      return release
    })
    return release === undefined ? undefined : asTicket(values, release)
  }

  async runExclusive(key, callback, weight, options) {
    homeOf(this, kind, 'runExclusive')
    checkCallback(callback, key)
    const [value, release] = await this.acquire(key, weight, options)
    try {
      return await callback(value)
    } finally {
      release()
    }
  }

  executeLocked(key, callback, weight, options) {
    homeOf(this, kind, 'executeLocked')
    return this.runExclusive(key, callback, weight, options)
  }

  acquireSync(key, weight, options) {
    const home = blockingHomeOf(this, kind, 'acquireSync')
    const asked = readAcquireSync(weight, options)
    this.#check(asked.weight)
    if (!Array.isArray(key)) {
      return home.with(key, (core) => core.acquireSync(asked.weight, asked.limits))
    }
    const values = []
    const release = acquireManySync(key, asked.limits, (one, left) => {
      const [value, release] = this.acquireSync(one, asked.weight, left)
      values.push(value)
      return release
    })
    return asTicket(values, release)
  }

  runExclusiveSync(key, callback, weight, options) {
    homeOf(this, kind, 'runExclusiveSync')
    checkCallback(callback, key)
    const [value, release] = this.acquireSync(key, weight, options)
    try {
      return callback(value)
    } finally {
      release()
    }
  }

  release(key, weight) {
    const home = homeOf(this, kind, 'release')
    const asked = this.#read(weight)
    const putBack = (core) => {
      if (core.getValue() > this.#value - asked.weight) return false
      core.release(asked.weight)
      return true
    }
    if (home.look(key, putBack, false)) return
    const message = `the semaphore of key ${nameOf(key)} would have more than ${this.#value}`
    throw lockError('ERR_LOCK_RANGE', message, RangeError)
  }

  waitForUnlock(key, weight, options) {
    const home = homeOf(this, kind, 'waitForUnlock')
    const asked = this.#read(weight, options)
    return home.with(key, (core) => core.waitForUnlock(asked.weight, asked.limits))
  }

  getValue(key) {
    const home = homeOf(this, kind, 'getValue')
    return home.look(key, (core) => core.getValue(), this.#value)
  }

  #read(weight, options) {
    const asked = readAcquire(weight, options)
    this.#check(asked.weight)
    return asked
  }

  /** More than there ever is would wait for ever. */
  #check(weight) {
    if (weight <= this.#value) return
    throw new RangeError(`weight ${weight} is more than the value ${this.#value} of each key`)
  }
}

module.exports = { KeyedSemaphore }
