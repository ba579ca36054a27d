'use strict'
const { LocalMutex } = require('../core/mutex.js')
const { lockError } = require('../core/errors.js')
const { nameOf } = require('../core/keys.js')
const { blockingHomeOf, homeOf, Keyed, keyed, lateFor } = require('./keyed.js')
const { acquireMany, acquireManySync, tryAcquireMany } = require('./many.js')
const { checkCallback, readSyncWait } = require('../core/options.js')
const { run, runSync } = require('./run.js')

const kind = {
  class: 'KeyedMutex',
  base: keyed,
  name: 'mutex',
  local: () => new LocalMutex(),
  lent: () => require('../core/lent_mutex.js').LentMutex,
  atRest: [],
}

class KeyedMutex extends Keyed {
  constructor(options = {}) {
    super(kind, options)
  }

  acquire(key, options) {
    const home = homeOf(this, kind, 'acquire')
    if (Array.isArray(key)) {
      return acquireMany(key, options, (one, limits) => this.acquire(one, limits), lateFor(this))
    }
    // Without options nothing can fail once the key is right.
    if (options === undefined) return home.open(key).acquire()
    return home.with(key, (core) => core.acquire(options))
  }

  tryAcquire(key) {
    const home = homeOf(this, kind, 'tryAcquire')
    if (Array.isArray(key)) return tryAcquireMany(key, (one) => this.tryAcquire(one))
    return home.with(key, (core) => core.tryAcquire())
  }

  runExclusive(key, callback, options) {
    try {
      const home = homeOf(this, kind, 'runExclusive')
      if (Array.isArray(key)) return run(callback, () => this.acquire(key, options), key)
      checkCallback(callback, key)
      if (options === undefined) return home.open(key).runExclusive(callback)
      return home.with(key, (core) => core.runExclusive(callback, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  executeLocked(key, callback, options) {
    homeOf(this, kind, 'executeLocked')
    return this.runExclusive(key, callback, options)
  }

  lock(key, options) {
    const home = homeOf(this, kind, 'lock')
    if (options === undefined) return home.open(key).lock()
    return home.with(key, (core) => core.lock(options))
  }

  tryLock(key) {
    return homeOf(this, kind, 'tryLock').with(key, (core) => core.tryLock())
  }

  lockSync(key, options) {
    const home = blockingHomeOf(this, kind, 'lockSync')
    const limits = readSyncWait(options)
    home.with(key, (core) => core.lockSync(limits))
  }

  acquireSync(key, options) {
    const home = blockingHomeOf(this, kind, 'acquireSync')
    const limits = readSyncWait(options)
    if (!Array.isArray(key)) return home.with(key, (core) => core.acquireSync(limits))
    return acquireManySync(key, limits, (one, left) => this.acquireSync(one, left))
  }

  runExclusiveSync(key, callback, options) {
    homeOf(this, kind, 'runExclusiveSync')
    return runSync(callback, () => this.acquireSync(key, options), key)
  }

  unlock(key) {
    const core = homeOf(this, kind, 'unlock').find(key)
    if (core === undefined) {
      throw lockError('ERR_LOCK_NOT_HELD', `the mutex of key ${nameOf(key)} is not held`)
    }
    core.unlock()
  }

  release(key) {
    homeOf(this, kind, 'release').look(key, (core) => core.release())
  }

  waitForUnlock(key, options) {
    return homeOf(this, kind, 'waitForUnlock').with(key, (core) => core.waitForUnlock(options))
  }
}

module.exports = { KeyedMutex }
