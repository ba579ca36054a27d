'use strict'
const { LocalMutex } = require('../core/mutex.js')
const { refuseOptions, surplusError } = require('../core/options.js')
const { blockingLockOf, lockOf, withDefaults } = require('./base.js')
const { blockingLimits, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'Mutex',
  base: holdable,
  name: 'mutex',
  bytes: 4,
  local: () => new LocalMutex(),
}

class Mutex extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquire(options, surplus) {
    if (surplus !== undefined) throw surplusError()
    return lockOf(this, kind, 'acquire').acquire(withDefaults(this, options))
  }

  tryAcquire(given) {
    const lock = lockOf(this, kind, 'tryAcquire')
    refuseOptions(given)
    return lock.tryAcquire()
  }

  runExclusive(callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    return lockOf(this, kind, 'runExclusive').runExclusive(callback, withDefaults(this, options))
  }

  executeLocked(callback, options, surplus) {
    lockOf(this, kind, 'executeLocked')
    return this.runExclusive(callback, options, surplus)
  }

  lock(options, surplus) {
    if (surplus !== undefined) throw surplusError()
    return lockOf(this, kind, 'lock').lock(withDefaults(this, options))
  }

  tryLock() {
    return lockOf(this, kind, 'tryLock').tryLock()
  }

  lockSync(options) {
    blockingLockOf(this, kind, 'lockSync').lockSync(blockingLimits(this, options))
  }

  acquireSync(options) {
    return blockingLockOf(this, kind, 'acquireSync').acquireSync(blockingLimits(this, options))
  }

  runExclusiveSync(callback, options) {
    return blockingLockOf(this, kind, 'runExclusiveSync').runExclusiveSync(
      callback,
      blockingLimits(this, options),
    )
  }

  unlock() {
    lockOf(this, kind, 'unlock').unlock()
  }

  release() {
    lockOf(this, kind, 'release').release()
  }

  waitForUnlock(options) {
    return lockOf(this, kind, 'waitForUnlock').waitForUnlock(withDefaults(this, options))
  }
}

module.exports = { kind, Mutex }
