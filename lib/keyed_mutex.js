'use strict'
const { LocalMutex } = require('./core/mutex.js')
const { lockError } = require('./errors.js')
const { nameOf } = require('./keys.js')
const { blockingHomeOf, homeOf, Keyed, lateFor } = require('./keyed.js')
const { acquireMany, acquireManySync, tryAcquireMany } = require('./many.js')
const { checkCallback, readSyncWait } = require('./options.js')
const { run, runSync } = require('./run.js')

const kind = {
  name: 'mutex',
  local: () => new LocalMutex(),
  shared: () => new (require('./mutex_core.js').MutexCore)(),
  atRest: [],
}

class KeyedMutex extends Keyed {
  constructor(options = {}) {
    super(kind, options)
  }

  acquire(key, options) {
    if (Array.isArray(key)) {
      return acquireMany(key, options, (one, limits) => this.acquire(one, limits), lateFor(this))
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
    if (Array.isArray(key)) return run(callback, () => this.acquire(key, options), key)
    try {
      checkCallback(callback, key)
      if (options === undefined) return homeOf(this).open(key).runExclusive(callback)
      return homeOf(this).with(key, (core) => core.runExclusive(callback, options))
    } catch (error) {
      return Promise.reject(error)
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

  lockSync(key, options) {
    const home = blockingHomeOf(this, 'lockSync')
    const limits = readSyncWait(options)
    home.with(key, (core) => core.lockSync(limits))
  }

  acquireSync(key, options) {
    const home = blockingHomeOf(this, 'acquireSync')
    const limits = readSyncWait(options)
    if (!Array.isArray(key)) return home.with(key, (core) => core.acquireSync(limits))
    return acquireManySync(key, limits, (one, left) => this.acquireSync(one, left))
  }

  runExclusiveSync(key, callback, options) {
    return runSync(callback, () => this.acquireSync(key, options), key)
  }

  unlock(key) {
    const core = homeOf(this).find(key)
    if (core === undefined) {
      throw lockError('ERR_LOCK_NOT_HELD', `the mutex of key ${nameOf(key)} is not held`)
    }
    core.unlock()
  }

  release(key) {
    homeOf(this).look(key, (core) => core.release())
  }

  waitForUnlock(key, options) {
    return homeOf(this).with(key, (core) => core.waitForUnlock(options))
  }
}

module.exports = { KeyedMutex }
