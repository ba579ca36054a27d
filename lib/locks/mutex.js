'use strict'
const { LocalMutex } = require('../core/mutex.js')
const { readSyncWait } = require('../core/options.js')
const { blockingCoreOf, coreOf, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'Mutex',
  base: holdable,
  name: 'mutex',
  bytes: 4,
  local: () => new LocalMutex(),
  lent: (settings) => require('../process/mutexes.js').openMutex('mutex', settings),
}

class Mutex extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquire(options) {
    return coreOf(this, kind, 'acquire').acquire(options)
  }

  tryAcquire() {
    return coreOf(this, kind, 'tryAcquire').tryAcquire()
  }

  runExclusive(callback, options) {
    return coreOf(this, kind, 'runExclusive').runExclusive(callback, options)
  }

  executeLocked(callback, options) {
    return coreOf(this, kind, 'executeLocked').runExclusive(callback, options)
  }

  lock(options) {
    return coreOf(this, kind, 'lock').lock(options)
  }

  tryLock() {
    return coreOf(this, kind, 'tryLock').tryLock()
  }

  lockSync(options) {
    blockingCoreOf(this, kind, 'lockSync').lockSync(readSyncWait(options))
  }

  acquireSync(options) {
    return blockingCoreOf(this, kind, 'acquireSync').acquireSync(readSyncWait(options))
  }

  runExclusiveSync(callback, options) {
    return blockingCoreOf(this, kind, 'runExclusiveSync').runExclusiveSync(
      callback,
      readSyncWait(options),
    )
  }

  unlock() {
    coreOf(this, kind, 'unlock').unlock()
  }

  release() {
    coreOf(this, kind, 'release').release()
  }

  waitForUnlock(options) {
    return coreOf(this, kind, 'waitForUnlock').waitForUnlock(options)
  }
}

module.exports = { kind, Mutex }
