'use strict'
const { readSyncWait } = require('../core/options.js')
const { run, runSync } = require('./run.js')
const { LocalRWLock } = require('../core/rw_lock.js')
const { blockingCoreOf, coreOf, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'RWLock',
  base: holdable,
  name: 'read-write lock',
  bytes: 4,
  local: () => new LocalRWLock(),
  shared: () => require('../process/rw_core.js').RWCore,
}

class RWLock extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquireRead(options) {
    return coreOf(this, kind, 'acquireRead').acquireRead(options)
  }

  acquireWrite(options) {
    return coreOf(this, kind, 'acquireWrite').acquireWrite(options)
  }

  tryAcquireRead() {
    return coreOf(this, kind, 'tryAcquireRead').tryAcquireRead()
  }

  tryAcquireWrite() {
    return coreOf(this, kind, 'tryAcquireWrite').tryAcquireWrite()
  }

  runShared(callback, options) {
    return run(callback, () => coreOf(this, kind, 'runShared').acquireRead(options))
  }

  runExclusive(callback, options) {
    return run(callback, () => coreOf(this, kind, 'runExclusive').acquireWrite(options))
  }

  acquireReadSync(options) {
    return blockingCoreOf(this, kind, 'acquireReadSync').acquireReadSync(readSyncWait(options))
  }

  acquireWriteSync(options) {
    return blockingCoreOf(this, kind, 'acquireWriteSync').acquireWriteSync(readSyncWait(options))
  }

  runSharedSync(callback, options) {
    const core = blockingCoreOf(this, kind, 'runSharedSync')
    return runSync(callback, () => core.acquireReadSync(readSyncWait(options)))
  }

  runExclusiveSync(callback, options) {
    const core = blockingCoreOf(this, kind, 'runExclusiveSync')
    return runSync(callback, () => core.acquireWriteSync(readSyncWait(options)))
  }

  get readers() {
    return coreOf(this, kind, 'readers').readers()
  }

  isWriteLocked() {
    return coreOf(this, kind, 'isWriteLocked').isWritten()
  }
}

module.exports = { RWLock }
