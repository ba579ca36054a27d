'use strict'
// The base of the classes without keys.
const { checkMayBlock, isObject, readSyncWait } = require('../core/options.js')
const platform = require('../core/platform.js')
const { completed } = require('../core/wait_defaults.js')
const { closedSingle } = require('./closed.js')
const { isOfKind, receiverError, signalMark } = require('../core/receiver.js')
const { openLock } = require('../options/open.js')

/** The kind of all these classes. */
const single = { class: 'Single', instance: 'a lock' }

/** Returns the lock for a call of `method` on `it`. Throws unless `it` is of that kind. */
let lockOf
/** Returns the lock if `it` is closed or of a derived kind. Separate, so that V8 inlines lockOf(). */
let lockOfOther
/** As lockOf(), for a method that blocks this thread. Throws on the main thread. */
let blockingLockOf
/**
 * Returns the error that cancel() of `it` rejects with. Over an engine, objects of one lock may have different errors.
 */
let cancelErrorOf
/** The constructor's defaults for the waits of `it`, or undefined. */
let defaultsOf
/** Returns the `options` of a wait completed by the defaults of `it`. */
let withDefaults
/** Closes `it`. */
let close
/** Returns the kind of `it`, or undefined if it is not an object of these classes. */
let kindOf

/** Returns the limits of a wait of `it` that blocks this thread. */
const blockingLimits = (it, options) => readSyncWait(withDefaults(it, options))

/** Returns the snapshot of `lock` without the figures of diagnostics. */
function stateOf(lock) {
  const { totals: _, waits: __, ...state } = lock.snapshot()
  return state
}

class Single {
  #lock
  #kind
  #cancelError
  #mayBlock
  #defaults

  static {
    defaultsOf = (it) => it.#defaults
    withDefaults = (it, options) => completed(options, it.#defaults)
    kindOf = (it) => (isObject(it) && #kind in it ? it.#kind : undefined)
    lockOf = (it, kind, method) => {
      try {
        if (it.#kind === kind) return it.#lock
      } catch {
        // `it` lacks the private field. A check before the access would cost each call a nanosecond.
        throw receiverError(kind, method, it)
      }
      return lockOfOther(it, kind, method)
    }
    lockOfOther = (it, kind, method) => {
      if (!isOfKind(it.#kind, kind)) throw receiverError(kind, method, it, it.#kind)
      const { lockFor } = it.#kind
      return lockFor === undefined ? it.#lock : lockFor(method)
    }
    close = (it) => {
      if (it.#kind.lockFor !== undefined) return
      it.#kind = closedSingle(it.#kind, it.#lock)
    }
    blockingLockOf = (it, kind, method) => {
      const lock = lockOf(it, kind, method)
      checkMayBlock(it.#mayBlock, method)
      return lock
    }
    cancelErrorOf = (it, kind, method) => {
      lockOf(it, kind, method)
      return it.#cancelError
    }
  }

  constructor(kind, args, options) {
    const { lock, cancelError, defaults, mayBlock } = openLock(kind, args, options)
    this.#lock = lock
    this.#kind = kind
    this.#cancelError = cancelError
    this.#mayBlock = mayBlock
    this.#defaults = defaults
  }

  [platform.inspecting](_depth, options, inspect) {
    // `this` is the prototype of a class.
    if (!(isObject(this) && #lock in this)) return this
    const lock = this.#lock
    const name = lock.shared?.name ?? lock.name
    const look = () => (this instanceof Holdable ? stateOf(lock) : {})
    return platform.inspected(this, { name, scope: lock.scope }, look, options, inspect)
  }

  get [signalMark]() {
    return #lock in this ? this.#lock.scope : undefined
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
  isLocked() {
    return lockOf(this, holdable, 'isLocked').isLocked()
  }

  cancel(reason = cancelErrorOf(this, holdable, 'cancel')) {
    lockOf(this, holdable, 'cancel').cancel(reason)
  }

  snapshot() {
    return lockOf(this, holdable, 'snapshot').snapshot()
  }

  async close() {
    const lock = lockOf(this, holdable, 'close')
    close(this)
    await lock.onIdle()
  }

  async onIdle() {
    await lockOf(this, holdable, 'onIdle').onIdle()
  }
}

module.exports = {
  blockingLimits,
  blockingLockOf,
  lockOf,
  defaultsOf,
  Holdable,
  holdable,
  kindOf,
  Single,
  single,
  withDefaults,
}
