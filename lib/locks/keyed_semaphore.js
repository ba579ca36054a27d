'use strict'
const { LocalSemaphore } = require('../core/semaphore.js')
const {
  checkedValue,
  checkWeight,
  readAcquire,
  readAcquireSync,
  readWatch,
  readWeight,
} = require('../core/units.js')
const { lockError } = require('../core/errors.js')
const { titleOf } = require('../core/keys.js')
const { blockingMapOf, mapOf, withMapDefaults } = require('./base.js')
const { Keyed, keyed } = require('./keyed.js')
const { acquireOneOrMany, acquireSyncOneOrMany, tryOneOrMany } = require('./many.js')
const { asTicket } = require('../core/ticket.js')
const { now, run, runSync, tryRun } = require('../core/run.js')
const { refuseNumber, refuseOptions, surplusError } = require('../core/options.js')

const kind = {
  class: 'KeyedSemaphore',
  base: keyed,
  name: 'semaphore',
  local: (value) => new LocalSemaphore(value),
}

class KeyedSemaphore extends Keyed {
  #value

  constructor(value, options = {}) {
    checkedValue(value)
    if (value < 1) throw new RangeError(`value must be 1 or more, not ${value}`)
    super(kind, options, value)
    this.#value = value
  }

  acquire(key, weight, options, surplus) {
    if (surplus !== undefined) throw surplusError()
    const map = mapOf(this, kind, 'acquire')
    if (Array.isArray(key)) return this.#acquireMany(map, key, weight, options)
    const asked = this.#read(weight, options)
    return map.with(key, (lock) => lock.acquire(asked.weight, asked.limits))
  }

  async #acquireMany(map, keys, weight, options) {
    const asked = this.#read(weight, options)
    const values = new Values(keys)
    const acquire = async (lock, limits) =>
      values.keep(lock, await lock.acquire(asked.weight, limits))
    return values.ticket(await acquireOneOrMany(map, values.keys, asked.limits, acquire))
  }

  tryAcquire(key, weight, given) {
    const map = mapOf(this, kind, 'tryAcquire')
    refuseOptions(given)
    const asked = this.#read(weight, undefined, readWeight)
    if (!Array.isArray(key)) return map.with(key, (lock) => lock.tryAcquire(asked.weight))
    const values = new Values(key)
    const tryAcquire = (lock) => values.keep(lock, lock.tryAcquire(asked.weight))
    return values.ticket(tryOneOrMany(map, values.keys, tryAcquire))
  }

  runExclusive(key, callback, weight, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    try {
      mapOf(this, kind, 'runExclusive')
      const after = typeof weight === 'function' ? weight : options
      return run(callback, () => this.acquire(key, weight, options), key, after)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  executeLocked(key, callback, weight, options, surplus) {
    mapOf(this, kind, 'executeLocked')
    return this.runExclusive(key, callback, weight, options, surplus)
  }

  tryRunExclusive(key, callback, weight = 1, surplus) {
    mapOf(this, kind, 'tryRunExclusive')
    const runNow = (given) => this.runExclusive(key, given, checkWeight(weight), now, surplus)
    return tryRun(callback, runNow, key)
  }

  acquireSync(key, weight, options) {
    const map = blockingMapOf(this, kind, 'acquireSync')
    const asked = this.#read(weight, options, readAcquireSync)
    const acquire = (lock, limits) => lock.acquireSync(asked.weight, limits)
    if (!Array.isArray(key)) return map.with(key, (lock) => acquire(lock, asked.limits))
    const values = new Values(key)
    const acquireSync = (lock, limits) => values.keep(lock, acquire(lock, limits))
    return values.ticket(acquireSyncOneOrMany(map, values.keys, asked.limits, acquireSync))
  }

  runExclusiveSync(key, callback, weight, options) {
    mapOf(this, kind, 'runExclusiveSync')
    return runSync(callback, () => this.acquireSync(key, weight, options), key)
  }

  release(key, weight) {
    const map = mapOf(this, kind, 'release')
    const asked = this.#read(weight, undefined, readWeight)
    const putBack = (lock) => {
      if (lock.getValue() > this.#value - asked.weight) return false
      lock.release(asked.weight)
      return true
    }
    if (map.look(key, putBack, false)) return
    const message = `${titleOf('semaphore', { key, keyMap: map })} would pass its maximum of ${this.#value}`
    throw lockError('ERR_LOCK_RANGE', message, RangeError)
  }

  waitForUnlock(key, weight, options) {
    const map = mapOf(this, kind, 'waitForUnlock')
    const asked = this.#read(weight, options, readWatch)
    return map.with(key, (lock) => lock.waitForUnlock(asked.weight, asked.limits))
  }

  getValue(key) {
    const map = mapOf(this, kind, 'getValue')
    return map.look(key, (lock) => lock.getValue(), this.#value)
  }

  /** Reads arguments. Throws for more units than the semaphore ever has, because the caller would wait for ever. */
  #read(weightOrOptions, options, read = readAcquire) {
    refuseNumber(options)
    const asked = read(weightOrOptions, withMapDefaults(this, options))
    const { weight } = asked
    if (weight <= this.#value) return asked
    throw new RangeError(
      `weight ${weight} is more than the value ${this.#value} of each key; for a timeout: { timeout: ${weight} }; for a priority: { priority: ${weight} }`,
    )
  }
}

/** The values of several keys in the caller's order. acquire() takes the keys in another order, each once. */
class Values {
  #byKey = new Map()

  constructor(keys) {
    /** A copy, because the caller may change its array. */
    this.keys = [...keys]
  }

  /** Keeps the value from a ticket of `lock`, if there is one, and returns its releaser. */
  keep({ key }, [value, release] = []) {
    this.#byKey.set(key, value)
    return release
  }

  /** The ticket of all keys, unless `release` is undefined. */
  ticket(release) {
    if (release === undefined) return undefined
    return asTicket(
      this.keys.map((key) => this.#byKey.get(key)),
      release,
    )
  }
}

module.exports = { KeyedSemaphore }
