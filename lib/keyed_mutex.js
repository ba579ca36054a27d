'use strict'
const { lockError } = require('./errors.js')
const { Home, nameOf } = require('./home.js')
const { homeOf, Keyed } = require('./keyed.js')
const { acquireMany, tryAcquireMany } = require('./many.js')
const { MutexCore } = require('./mutex_core.js')
const { checkCallback, readCancelError } = require('./options.js')

const atRest = []

class KeyedMutex extends Keyed {
  constructor(options = {}) {
    super(new Home(atRest, () => new MutexCore(), readCancelError(options)))
  }

  acquire(key, options) {
    if (Array.isArray(key)) {
      return acquireMany(key, options, (one, limits) => this.acquire(one, limits))
    }
    // Without options nothing can fail once the key is right.
    if (options === undefined) return homeOf(this).open(key).acquire()
    return homeOf(this).with(key, (core) => core.acquire(options))
  }

  tryAcquire(key) {
    if (Array.isArray(key)) return tryAcquireMany(key, (one) => this.tryAcquire(one))
    return homeOf(this).with(key, (core) => core.tryAcquire())
  }

  runExclusive(key, callback, options) {
    if (Array.isArray(key)) return this.#runWithAll(key, callback, options)
    try {
      checkCallback(callback)
      if (options === undefined) return homeOf(this).open(key).runExclusive(callback)
      return homeOf(this).with(key, (core) => core.runExclusive(callback, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #runWithAll(keys, callback, options) {
    checkCallback(callback)
    const release = await this.acquire(keys, options)
    try {
      return await callback()
    } finally {
      release()
    }
  }

  executeLocked(key, callback, options) {
    return this.runExclusive(key, callback, options)
  }

  lock(key, options) {
    if (options === undefined) return homeOf(this).open(key).lock()
    return homeOf(this).with(key, (core) => core.lock(options))
  }

  tryLock(key) {
    return homeOf(this).with(key, (core) => core.tryLock())
  }

  unlock(key) {
    const core = homeOf(this).find(key)
    if (core === undefined) {
      throw lockError('ERR_LOCK_NOT_HELD', `the mutex of key ${nameOf(key)} is not held`)
    }
    core.unlock()
  }

  release(key) {
    homeOf(this).find(key)?.release()
  }

  waitForUnlock(key, options) {
    return homeOf(this).with(key, (core) => core.waitForUnlock(options))
  }

  snapshot() {
    return homeOf(this)
      .busy()
      .map((core) => ({
        key: core.key,
        locked: core.isLocked(),
        waiting: core.queueSize(),
      }))
  }
}

module.exports = { KeyedMutex }
