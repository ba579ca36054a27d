'use strict'
const { LocalMutex } = require('../core/mutex.js')
const { lockError } = require('../core/errors.js')
const { titleOf } = require('../core/keys.js')
const { lockOptionsWithDefaults } = require('../options/lock_options.js')
const { blockingMapOf, mapOf, withMapDefaults } = require('./base.js')
const { blockingLimits, Keyed, keyed } = require('./keyed.js')
const { acquireOneOrMany, acquireSyncOneOrMany, tryOneOrMany } = require('./many.js')
const { checkCallback, refuseOptions, refuseNumber, surplusError } = require('../core/options.js')
const { run, runSync } = require('../core/run.js')

const kind = {
  class: 'KeyedMutex',
  base: keyed,
  name: 'mutex',
  known: new Set([...lockOptionsWithDefaults, 'reentrant']),
  local: () => new LocalMutex(),
  atRest: [],
}

const acquire = (lock, options) => lock.acquire(options)
const acquireSync = (lock, limits) => lock.acquireSync(limits)

/** Whether open() may replace with(): without options, only an observer can throw once the lock is open. */
const mayOpen = ({ watch }) => watch === undefined

class KeyedMutex extends Keyed {
  constructor(options = {}) {
    super(kind, options)
    mapOf(this, kind, 'runExclusive').checkAcquire?.(this.#isAcquireOwn())
  }

  /** Whether acquire() is the method of this class. A derived class, a class field or a spy may have replaced it. */
  #isAcquireOwn() {
    return this.acquire === KeyedMutex.prototype.acquire
  }

  acquire(key, options, surplus) {
    if (surplus !== undefined) throw surplusError()
    const map = mapOf(this, kind, 'acquire')
    const limits = withMapDefaults(this, options)
    if (limits === undefined && mayOpen(map) && !Array.isArray(key)) return map.open(key).acquire()
    return acquireOneOrMany(map, key, limits, acquire)
  }

  tryAcquire(key, given) {
    const map = mapOf(this, kind, 'tryAcquire')
    refuseOptions(given)
    return tryOneOrMany(map, key, (lock) => lock.tryAcquire())
  }

  runExclusive(key, callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    try {
      const map = mapOf(this, kind, 'runExclusive', key)
      const isAcquireOwn = this.#isAcquireOwn()
      map.checkAcquire?.(isAcquireOwn)
      const isOne = !Array.isArray(key)
      // A derived class may override acquire(), as for several keys and in all keyed classes.
      if (!isAcquireOwn || !(isOne || map.runExclusive))
        return run(callback, () => this.acquire(key, options), key, options)
      checkCallback(callback, key, options)
      const limits = withMapDefaults(this, options)
      if (limits === undefined && isOne && mayOpen(map)) return map.open(key).runExclusive(callback)
      refuseNumber(options)
      if (isOne) return map.with(key, (lock) => lock.runExclusive(callback, limits))
      return map.runExclusive(key, callback, limits)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  executeLocked(key, callback, options, surplus) {
    mapOf(this, kind, 'executeLocked')
    return this.runExclusive(key, callback, options, surplus)
  }

  lock(key, options, surplus) {
    if (surplus !== undefined) throw surplusError()
    const map = mapOf(this, kind, 'lock')
    const limits = withMapDefaults(this, options)
    if (limits === undefined && mayOpen(map)) return map.open(key).lock()
    refuseNumber(options)
    return map.with(key, (lock) => lock.lock(limits))
  }

  tryLock(key) {
    return mapOf(this, kind, 'tryLock').with(key, (lock) => lock.tryLock())
  }

  lockSync(key, options) {
    const map = blockingMapOf(this, kind, 'lockSync')
    const limits = blockingLimits(this, options)
    map.with(key, (lock) => lock.lockSync(limits))
  }

  acquireSync(key, options) {
    const map = blockingMapOf(this, kind, 'acquireSync')
    return acquireSyncOneOrMany(map, key, blockingLimits(this, options), acquireSync)
  }

  runExclusiveSync(key, callback, options) {
    const map = mapOf(this, kind, 'runExclusiveSync', key)
    if (map.runExclusiveSync !== undefined) {
      blockingMapOf(this, kind, 'runExclusiveSync', key)
      checkCallback(callback, key)
      return map.runExclusiveSync(key, callback, blockingLimits(this, options))
    }
    return runSync(callback, () => this.acquireSync(key, options), key)
  }

  unlock(key) {
    const map = mapOf(this, kind, 'unlock')
    const lock = map.find(key)
    if (lock === undefined) {
      throw lockError('ERR_LOCK_NOT_HELD', `${titleOf('mutex', { key, keyMap: map })} is not held`)
    }
    lock.unlock()
  }

  release(key) {
    mapOf(this, kind, 'release').look(key, (lock) => lock.release())
  }

  waitForUnlock(key, options) {
    const map = mapOf(this, kind, 'waitForUnlock')
    refuseNumber(options)
    return map.with(key, (lock) => lock.waitForUnlock(withMapDefaults(this, options)))
  }
}

module.exports = { KeyedMutex }
