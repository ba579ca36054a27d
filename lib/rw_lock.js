'use strict'
const { readSyncWait } = require('./options.js')
const { run, runSync } = require('./run.js')
const { LocalRWLock } = require('./core/rw_lock.js')
const { blockingCoreOf, cancelErrorOf, coreOf, Single } = require('./single.js')

const kind = {
  name: 'read-write lock',
  bytes: 4,
  local: () => new LocalRWLock(),
  shared: () => new (require('./rw_core.js').RWCore)(),
}

class RWLock extends Single {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquireRead(options) {
    return coreOf(this).acquireRead(options)
  }

  acquireWrite(options) {
    return coreOf(this).acquireWrite(options)
  }

  tryAcquireRead() {
    return coreOf(this).tryAcquireRead()
  }

  tryAcquireWrite() {
    return coreOf(this).tryAcquireWrite()
  }

  runShared(callback, options) {
    return run(callback, () => coreOf(this).acquireRead(options))
  }

  runExclusive(callback, options) {
    return run(callback, () => coreOf(this).acquireWrite(options))
  }

  acquireReadSync(options) {
    return blockingCoreOf(this, 'acquireReadSync').acquireReadSync(readSyncWait(options))
  }

  acquireWriteSync(options) {
    return blockingCoreOf(this, 'acquireWriteSync').acquireWriteSync(readSyncWait(options))
  }

  runSharedSync(callback, options) {
    return runSync(callback, () => this.acquireReadSync(options))
  }

  runExclusiveSync(callback, options) {
    return runSync(callback, () => this.acquireWriteSync(options))
  }

  get readers() {
    return coreOf(this).readers()
  }

  isLocked() {
    return coreOf(this).isLocked()
  }

  isWriteLocked() {
    return coreOf(this).isWritten()
  }

  cancel(reason = cancelErrorOf(this)) {
    coreOf(this).cancel(reason)
  }

  snapshot() {
    return coreOf(this).snapshot()
  }
}

module.exports = { RWLock }
