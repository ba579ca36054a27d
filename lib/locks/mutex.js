'use strict'
const { LocalMutex } = require('../core/mutex.js')
const { lockOptionsWithDefaults } = require('./lock_options.js')
const { acquiring, blocking, waiting } = require('./defaults.js')
const { now, tryRun } = require('./run.js')
const { blockingCoreOf, coreOf, defaultsOf, Holdable, holdable } = require('./single.js')

const kind = {
  class: 'Mutex',
  base: holdable,
  name: 'mutex',
  bytes: 4,
  known: lockOptionsWithDefaults,
  local: () => new LocalMutex(),
}

class Mutex extends Holdable {
  constructor(options = {}) {
    super(kind, [], options)
  }

  acquire(options) {
    return coreOf(this, kind, 'acquire').acquire(acquiring(defaultsOf(this), options))
  }

  tryAcquire() {
    return coreOf(this, kind, 'tryAcquire').tryAcquire()
  }

  runExclusive(callback, options) {
    return coreOf(this, kind, 'runExclusive').runExclusive(
      callback,
      acquiring(defaultsOf(this), options),
    )
  }

  executeLocked(callback, options) {
    return coreOf(this, kind, 'executeLocked').runExclusive(
      callback,
      acquiring(defaultsOf(this), options),
    )
  }

  tryRunExclusive(callback) {
    coreOf(this, kind, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(given, now))
  }

  lock(options) {
    return coreOf(this, kind, 'lock').lock(acquiring(defaultsOf(this), options))
  }

  tryLock() {
    return coreOf(this, kind, 'tryLock').tryLock()
  }

  lockSync(options) {
    blockingCoreOf(this, kind, 'lockSync').lockSync(blocking(defaultsOf(this), options))
  }

  acquireSync(options) {
    return blockingCoreOf(this, kind, 'acquireSync').acquireSync(
      blocking(defaultsOf(this), options),
    )
  }

  runExclusiveSync(callback, options) {
    return blockingCoreOf(this, kind, 'runExclusiveSync').runExclusiveSync(
      callback,
      blocking(defaultsOf(this), options),
    )
  }

  unlock() {
    coreOf(this, kind, 'unlock').unlock()
  }

  release() {
    coreOf(this, kind, 'release').release()
  }

  waitForUnlock(options) {
    return coreOf(this, kind, 'waitForUnlock').waitForUnlock(waiting(defaultsOf(this), options))
  }
}

module.exports = { kind, Mutex }
