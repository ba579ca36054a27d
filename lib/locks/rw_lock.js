'use strict'
const { lockOptionsWithDefaults } = require('./lock_options.js')
const { now, run, runSync, tryRun } = require('./run.js')
const { LocalRWLock } = require('../core/rw_lock.js')
const { acquiring, blocking } = require('./defaults.js')
const { blockingCoreOf, coreOf, defaultsOf, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'RWLock',
  base: holdable,
  name: 'read-write lock',
  bytes: 4,
  known: lockOptionsWithDefaults,
  local: () => new LocalRWLock(),
}

class RWLock extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquireRead(options) {
    return coreOf(this, kind, 'acquireRead').acquireRead(acquiring(defaultsOf(this), options))
  }

  acquireWrite(options) {
    return coreOf(this, kind, 'acquireWrite').acquireWrite(acquiring(defaultsOf(this), options))
  }

  tryAcquireRead() {
    return coreOf(this, kind, 'tryAcquireRead').tryAcquireRead()
  }

  tryAcquireWrite() {
    return coreOf(this, kind, 'tryAcquireWrite').tryAcquireWrite()
  }

  runShared(callback, options) {
    const grant = () =>
      coreOf(this, kind, 'runShared').acquireRead(acquiring(defaultsOf(this), options))
    return run(callback, grant, undefined, options)
  }

  runExclusive(callback, options) {
    const grant = () =>
      coreOf(this, kind, 'runExclusive').acquireWrite(acquiring(defaultsOf(this), options))
    return run(callback, grant, undefined, options)
  }

  tryRunShared(callback) {
    coreOf(this, kind, 'tryRunShared')
    return tryRun(callback, (given) => this.runShared(given, now))
  }

  tryRunExclusive(callback) {
    coreOf(this, kind, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(given, now))
  }

  acquireReadSync(options) {
    return blockingCoreOf(this, kind, 'acquireReadSync').acquireReadSync(
      blocking(defaultsOf(this), options),
    )
  }

  acquireWriteSync(options) {
    return blockingCoreOf(this, kind, 'acquireWriteSync').acquireWriteSync(
      blocking(defaultsOf(this), options),
    )
  }

  runSharedSync(callback, options) {
    const core = blockingCoreOf(this, kind, 'runSharedSync')
    return runSync(callback, () => core.acquireReadSync(blocking(defaultsOf(this), options)))
  }

  runExclusiveSync(callback, options) {
    const core = blockingCoreOf(this, kind, 'runExclusiveSync')
    return runSync(callback, () => core.acquireWriteSync(blocking(defaultsOf(this), options)))
  }

  get readers() {
    return coreOf(this, kind, 'readers').readers()
  }

  isWriteLocked() {
    return coreOf(this, kind, 'isWriteLocked').isWritten()
  }
}

module.exports = { RWLock }
