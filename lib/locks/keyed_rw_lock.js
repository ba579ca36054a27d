'use strict'
const { LocalRWLock } = require('../core/rw_lock.js')
const { blockingMapOf, mapOf, withMapDefaults } = require('./base.js')
const { blockingLimits, Keyed, keyed } = require('./keyed.js')
const { acquireOneOrMany, acquireSyncOneOrMany, tryOneOrMany } = require('./many.js')
const { grantOf } = require('../core/rw_releaser.js')
const { refuseOptions, surplusError } = require('../core/options.js')
const { now, run, runSync, tryRun } = require('../core/run.js')

const kind = {
  class: 'KeyedRWLock',
  base: keyed,
  name: 'read-write lock',
  local: () => new LocalRWLock(),
  atRest: [],
}

const acquireRead = (lock, options) => lock.acquireRead(options)
const acquireWrite = (lock, options) => lock.acquireWrite(options)
const acquireReadSync = (lock, limits) => lock.acquireReadSync(limits)
const acquireWriteSync = (lock, limits) => lock.acquireWriteSync(limits)

class KeyedRWLock extends Keyed {
  constructor(options = {}) {
    super(kind, options)
  }

  acquireRead(key, options, surplus) {
    if (surplus !== undefined) throw surplusError()
    const map = mapOf(this, kind, 'acquireRead')
    return acquireOneOrMany(map, key, withMapDefaults(this, options), acquireRead)
  }

  acquireWrite(key, options, surplus) {
    if (surplus !== undefined) throw surplusError()
    const map = mapOf(this, kind, 'acquireWrite')
    return acquireOneOrMany(map, key, withMapDefaults(this, options), acquireWrite)
  }

  tryAcquireRead(key, given) {
    const map = mapOf(this, kind, 'tryAcquireRead')
    refuseOptions(given)
    return tryOneOrMany(map, key, (lock) => lock.tryAcquireRead())
  }

  tryAcquireWrite(key, given) {
    const map = mapOf(this, kind, 'tryAcquireWrite')
    refuseOptions(given)
    return tryOneOrMany(map, key, (lock) => lock.tryAcquireWrite())
  }

  runShared(key, callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    mapOf(this, kind, 'runShared')
    return run(callback, () => this.acquireRead(key, options), key, options, grantOf)
  }

  runExclusive(key, callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    mapOf(this, kind, 'runExclusive')
    return run(callback, () => this.acquireWrite(key, options), key, options, grantOf)
  }

  tryRunShared(key, callback, surplus) {
    mapOf(this, kind, 'tryRunShared')
    return tryRun(callback, (given) => this.runShared(key, given, now, surplus), key)
  }

  acquireReadSync(key, options) {
    const map = blockingMapOf(this, kind, 'acquireReadSync')
    return acquireSyncOneOrMany(map, key, blockingLimits(this, options), acquireReadSync)
  }

  acquireWriteSync(key, options) {
    const map = blockingMapOf(this, kind, 'acquireWriteSync')
    return acquireSyncOneOrMany(map, key, blockingLimits(this, options), acquireWriteSync)
  }

  runSharedSync(key, callback, options) {
    mapOf(this, kind, 'runSharedSync')
    return runSync(callback, () => this.acquireReadSync(key, options), key, grantOf)
  }

  runExclusiveSync(key, callback, options) {
    mapOf(this, kind, 'runExclusiveSync')
    return runSync(callback, () => this.acquireWriteSync(key, options), key, grantOf)
  }

  readers(key) {
    return mapOf(this, kind, 'readers').look(key, (lock) => lock.readers(), 0)
  }

  isWriteLocked(key) {
    return mapOf(this, kind, 'isWriteLocked').look(key, (lock) => lock.isWritten(), false)
  }
}

module.exports = { KeyedRWLock }
