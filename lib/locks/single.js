'use strict'
// The base of the classes without keys.
const { readSyncWait } = require('../core/options.js')
const { signalMark } = require('../core/receiver.js')
const { now, tryRun } = require('../core/run.js')
const {
  lockOptions,
  lockOptionsWithDefaults,
  readLockOptions,
} = require('../options/lock_options.js')
const { Base, cancelErrorOf, close, kindOf, lockOf, look, withDefaults } = require('./base.js')
const { Refusal } = require('./closed.js')

const single = { class: 'Single', instance: 'a lock' }

const blockingLimits = (it, options) => readSyncWait(withDefaults(it, options))

class Single extends Base {
  constructor(kind, args, options) {
    const known = kind.known ?? (kind.isGate ? lockOptions : lockOptionsWithDefaults)
    const settings = readLockOptions(options, kind.bytes, known)
    const { scopes } = settings
    const lock =
      scopes === undefined
        ? kind.local(...args).configured(settings)
        : scopes.openLock(kind, args, settings)
    super(kind, kind.over === undefined ? lock : kind.over(lock), settings)
  }

  [look]() {
    return {}
  }

  get [signalMark]() {
    return kindOf(this) && lockOf(this, single).scope
  }

  get buffer() {
    return lockOf(this, single, 'buffer').memory().buffer
  }

  get byteOffset() {
    return lockOf(this, single, 'byteOffset').memory().byteOffset
  }
}

/** The methods of locks that callers can hold. */
const holdable = {
  class: 'Holdable',
  base: single,
  instance: 'a mutex, a semaphore or a read-write lock',
}

class Holdable extends Single {
  /** The snapshot of the lock, without the figures of diagnostics. */
  [look](lock) {
    const { totals: _, waits: __, ...state } = lock.snapshot()
    return state
  }

  isLocked() {
    return lockOf(this, holdable, 'isLocked').isLocked()
  }

  tryRunExclusive(callback, surplus) {
    lockOf(this, holdable, 'tryRunExclusive')
    return tryRun(callback, (given) => this.runExclusive(given, now, surplus))
  }

  cancel(reason) {
    lockOf(this, holdable, 'cancel').cancel(reason === undefined ? cancelErrorOf(this) : reason)
  }

  snapshot() {
    return lockOf(this, holdable, 'snapshot').snapshot()
  }

  async close() {
    const lock = lockOf(this, holdable, 'close')
    close(this, new Refusal(kindOf(this), lock.title(), lock.observer))
    await lock.onIdle()
  }

  async onIdle() {
    await lockOf(this, holdable, 'onIdle').onIdle()
  }
}

module.exports = { blockingLimits, Holdable, holdable, Single, single }
