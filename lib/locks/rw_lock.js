'use strict'
const { refuseOptions, surplusError } = require('../core/options.js')
const { now, runSync, tryRun } = require('../core/run.js')
const { grantOf } = require('../core/rw_releaser.js')
const { LocalRWLock } = require('../core/rw_lock.js')
const { blockingLockOf, lockOf, withDefaults } = require('./base.js')
const { blockingLimits, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'RWLock',
  base: holdable,
  name: 'read-write lock',
  bytes: 4,
  local: () => new LocalRWLock(),
}

class RWLock extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquireRead(options, surplus) {
    if (surplus !== undefined) throw surplusError()
    return lockOf(this, kind, 'acquireRead').acquireRead(withDefaults(this, options))
  }

  acquireWrite(options, surplus) {
    if (surplus !== undefined) throw surplusError()
    return lockOf(this, kind, 'acquireWrite').acquireWrite(withDefaults(this, options))
  }

  tryAcquireRead(given) {
    const lock = lockOf(this, kind, 'tryAcquireRead')
    refuseOptions(given)
    return lock.tryAcquireRead()
  }

  tryAcquireWrite(given) {
    const lock = lockOf(this, kind, 'tryAcquireWrite')
    refuseOptions(given)
    return lock.tryAcquireWrite()
  }

  runShared(callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    const lock = lockOf(this, kind, 'runShared')
    return lock.runShared(callback, withDefaults(this, options))
  }

  runExclusive(callback, options, surplus) {
    if (surplus !== undefined) return Promise.reject(surplusError())
    const lock = lockOf(this, kind, 'runExclusive')
    return lock.runExclusive(callback, withDefaults(this, options))
  }

  tryRunShared(callback, surplus) {
    lockOf(this, kind, 'tryRunShared')
    return tryRun(callback, (given) => this.runShared(given, now, surplus))
  }

  acquireReadSync(options) {
    return blockingLockOf(this, kind, 'acquireReadSync').acquireReadSync(
      blockingLimits(this, options),
    )
  }

  acquireWriteSync(options) {
    return blockingLockOf(this, kind, 'acquireWriteSync').acquireWriteSync(
      blockingLimits(this, options),
    )
  }

  runSharedSync(callback, options) {
    const lock = blockingLockOf(this, kind, 'runSharedSync')
    const grant = () => lock.acquireReadSync(blockingLimits(this, options))
    return runSync(callback, grant, undefined, grantOf)
  }

  runExclusiveSync(callback, options) {
    const lock = blockingLockOf(this, kind, 'runExclusiveSync')
    const grant = () => lock.acquireWriteSync(blockingLimits(this, options))
    return runSync(callback, grant, undefined, grantOf)
  }

  get readers() {
    return lockOf(this, kind, 'readers').readers()
  }

  isWriteLocked() {
    return lockOf(this, kind, 'isWriteLocked').isWritten()
  }
}

module.exports = { RWLock }
