'use strict'
// The base of every object that stands for a single lock, event, condition ...
const { checkMayBlock, isObject } = require('../core/options.js')
const platform = require('../core/platform.js')
const { closedSingle } = require('./closed.js')
const { isOfKind, receiverError, signalMark } = require('../core/receiver.js')
const { openLock } = require('../options/open.js')

/** The kind of all of them. */
const single = { class: 'Single', instance: 'a lock' }

/** The lock of `it`, the `this` of `method` of that kind. Throws for any other receiver. */
let lockOf
/** The lock of an `it` of a derived kind, or of a closed one. It stands apart, so that lockOf() is inlined. */
let lockOfOther
/** The lock for a method that is about to block this thread. */
let blockingLockOf
/**
 * The error that cancel() of `it` rejects with. Over an engine, objects of one lock may have
 * different ones.
 */
let cancelErrorOf
/** The constructor's defaults for the waits of `it`, or undefined. */
let defaultsOf
/** Closes `it`. */
let close
/** The kind of `it`, which may be any value: undefined unless it is an object of these classes. */
let kindOf

/** The state of `lock` without the figures of diagnostics. */
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
    kindOf = (it) => (isObject(it) && #kind in it ? it.#kind : undefined)
    lockOf = (it, kind, method) => {
      try {
        if (it.#kind === kind) return it.#lock
      } catch {
        // `it` lacks the private field. Checking first would cost each call a nanosecond.
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
    // The prototype of a class.
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
  blockingLockOf,
  lockOf,
  defaultsOf,
  Holdable,
  holdable,
  kindOf,
  Single,
  single,
}
