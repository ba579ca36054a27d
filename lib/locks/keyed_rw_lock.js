'use strict'
const { LocalRWLock } = require('../core/rw_lock.js')
const { blockingHomeOf, homeOf, Keyed, keyed, lateFor } = require('./keyed.js')
const { acquireMany, acquireManySync, tryAcquireMany } = require('./many.js')
const { readSyncWait } = require('../core/options.js')
const { run, runSync } = require('./run.js')

const kind = {
  class: 'KeyedRWLock',
  base: keyed,
  name: 'read-write lock',
  local: () => new LocalRWLock(),
  shared: () => new (require('../process/rw_core.js').RWCore)(),
  atRest: [],
}

class KeyedRWLock extends Keyed {
  constructor(options = {}) {
    super(kind, options)
  }

  acquireRead(key, options) {
    const home = homeOf(this, kind, 'acquireRead')
    if (Array.isArray(key)) {
      return acquireMany(
        key,
        options,
        (one, limits) => this.acquireRead(one, limits),
        lateFor(this),
      )
    }
    return home.with(key, (core) => core.acquireRead(options))
  }

  acquireWrite(key, options) {
    const home = homeOf(this, kind, 'acquireWrite')
    if (Array.isArray(key)) {
      return acquireMany(
        key,
        options,
        (one, limits) => this.acquireWrite(one, limits),
        lateFor(this),
      )
    }
    return home.with(key, (core) => core.acquireWrite(options))
  }

  tryAcquireRead(key) {
    const home = homeOf(this, kind, 'tryAcquireRead')
    if (Array.isArray(key)) return tryAcquireMany(key, (one) => this.tryAcquireRead(one))
    return home.with(key, (core) => core.tryAcquireRead())
  }

  tryAcquireWrite(key) {
    const home = homeOf(this, kind, 'tryAcquireWrite')
    if (Array.isArray(key)) return tryAcquireMany(key, (one) => this.tryAcquireWrite(one))
    return home.with(key, (core) => core.tryAcquireWrite())
  }

  runShared(key, callback, options) {
    homeOf(this, kind, 'runShared')
    return run(callback, () => this.acquireRead(key, options), key)
  }

  runExclusive(key, callback, options) {
    homeOf(this, kind, 'runExclusive')
    return run(callback, () => this.acquireWrite(key, options), key)
  }

  acquireReadSync(key, options) {
    const home = blockingHomeOf(this, kind, 'acquireReadSync')
    const limits = readSyncWait(options)
    if (!Array.isArray(key)) return home.with(key, (core) => core.acquireReadSync(limits))
    return acquireManySync(key, limits, (one, left) => this.acquireReadSync(one, left))
  }

  acquireWriteSync(key, options) {
    const home = blockingHomeOf(this, kind, 'acquireWriteSync')
    const limits = readSyncWait(options)
    if (!Array.isArray(key)) return home.with(key, (core) => core.acquireWriteSync(limits))
    return acquireManySync(key, limits, (one, left) => this.acquireWriteSync(one, left))
  }

  runSharedSync(key, callback, options) {
    homeOf(this, kind, 'runSharedSync')
    return runSync(callback, () => this.acquireReadSync(key, options), key)
  }

  runExclusiveSync(key, callback, options) {
    homeOf(this, kind, 'runExclusiveSync')
    return runSync(callback, () => this.acquireWriteSync(key, options), key)
  }

  readers(key) {
    return homeOf(this, kind, 'readers').look(key, (core) => core.readers(), 0)
  }

  isWriteLocked(key) {
    return homeOf(this, kind, 'isWriteLocked').look(key, (core) => core.isWritten(), false)
  }
}

module.exports = { KeyedRWLock }
