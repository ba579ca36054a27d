'use strict'
const { LocalMutex } = require('./core/mutex.js')
const { readSyncWait } = require('./options.js')
const { blockingCoreOf, cancelErrorOf, coreOf, Single } = require('./single.js')

const kind = {
  name: 'mutex',
  bytes: 4,
  local: () => new LocalMutex(),
  shared: () => new (require('./mutex_core.js').MutexCore)(),
}

class Mutex extends Single {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquire(options) {
    return coreOf(this).acquire(options)
  }

  tryAcquire() {
    return coreOf(this).tryAcquire()
  }

  runExclusive(callback, options) {
    return coreOf(this).runExclusive(callback, options)
  }

  executeLocked(callback, options) {
    return coreOf(this).runExclusive(callback, options)
  }

  lock(options) {
    return coreOf(this).lock(options)
  }

  tryLock() {
    return coreOf(this).tryLock()
  }

  lockSync(options) {
    blockingCoreOf(this, 'lockSync').lockSync(readSyncWait(options))
  }

  acquireSync(options) {
    return blockingCoreOf(this, 'acquireSync').acquireSync(readSyncWait(options))
  }

  runExclusiveSync(callback, options) {
    return blockingCoreOf(this, 'runExclusiveSync').runExclusiveSync(
      callback,
      readSyncWait(options),
    )
  }

  unlock() {
    coreOf(this).unlock()
  }

  release() {
    coreOf(this).release()
  }

  waitForUnlock(options) {
    return coreOf(this).waitForUnlock(options)
  }

  isLocked() {
    return coreOf(this).isLocked()
  }

  cancel(reason = cancelErrorOf(this)) {
    coreOf(this).cancel(reason)
  }

  snapshot() {
    return coreOf(this).snapshot()
  }
}

module.exports = { Mutex }
