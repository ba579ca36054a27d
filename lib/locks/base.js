'use strict'
// The base of all public classes of locks: an object with its lock, or with its keyed map, and the kind of its class.
//
// A method finds the lock by lockOf(this, kind, name). If the object is not simply of that kind, its own kind may have
// a lockFor(name, lock, key), which returns the lock that the method uses: for a closed object (closed.js) and for a
// recursive or reentrant one.
const { checkMayBlock, isObject, readSyncWait } = require('../core/options.js')
const platform = require('../core/platform.js')
const { isOfKind, receiverError } = require('../core/receiver.js')
const { completed } = require('../core/wait_defaults.js')
const { closedKind } = require('./closed.js')

/** Returns the lock for a call of `method` on `it`. Throws unless `it` is of that kind. */
let lockOf
/** As lockOf(), for keyed maps. A function of its own, because V8 compiles each for the classes that call it. */
let mapOf
/** Returns the lock if `it` has a kind of its own, or a derived one. Separate, so that V8 inlines lockOf(). */
let lockOfOther
/** Returns the lock of `it` that all methods use but those that acquire. */
let plainLockOf
/** As lockOf(), for a method that blocks this thread. Throws on the main thread. */
let blockingLockOf
/**
 * Returns the error that cancel() of `it` rejects with. Over an engine, objects of one lock may have different errors.
 */
let cancelErrorOf
/** The constructor's defaults for the waits of `it`, or undefined. */
let defaultsOf
/** Closes `it`. `refusalOf(kind, lock)` returns what stands in for its lock. */
let close
/** Returns the kind of `it`, or undefined if it is not an object of these classes. */
let kindOf

/** The method that returns what console.log() prints of the state of a lock. */
const look = Symbol('look')

class Base {
  #lock
  #kind
  #cancelError
  #mayBlock
  #defaults

  static {
    lockOf = (it, kind, method) => {
      try {
        if (it.#kind === kind) return it.#lock
      } catch {
        // `it` lacks the private field. A check before the access would cost each call a nanosecond.
        throw receiverError(kind, method, it)
      }
      return lockOfOther(it, kind, method)
    }
    mapOf = (it, kind, method, key) => {
      try {
        if (it.#kind === kind) return it.#lock
      } catch {
        throw receiverError(kind, method, it)
      }
      return lockOfOther(it, kind, method, key)
    }
    lockOfOther = (it, kind, method, key) => {
      if (!isOfKind(it.#kind, kind)) throw receiverError(kind, method, it, it.#kind)
      const { lockFor } = it.#kind
      return lockFor === undefined ? it.#lock : lockFor(method, it.#lock, key)
    }
    plainLockOf = (it) => lockOfOther(it, it.#kind)
    blockingLockOf = (it, kind, method, key) => {
      const lock = mapOf(it, kind, method, key)
      checkMayBlock(it.#mayBlock, method)
      return lock
    }
    cancelErrorOf = (it) => it.#cancelError
    defaultsOf = (it) => it.#defaults
    kindOf = (it) => (isObject(it) && #kind in it ? it.#kind : undefined)
    close = (it, refusalOf) => {
      if (it.#kind.isClosed) return
      it.#kind = closedKind(it.#kind, refusalOf(it.#kind, plainLockOf(it)))
    }
  }

  constructor(kind, lock, { cancelError, defaults, mayBlock }) {
    this.#lock = lock
    this.#kind = kind
    this.#cancelError = cancelError
    this.#mayBlock = mayBlock
    this.#defaults = defaults
  }

  [platform.inspecting](_depth, options, inspect) {
    // `this` is the prototype of a class.
    if (kindOf(this) === undefined) return this
    const lock = plainLockOf(this)
    const known = { name: lock.shared?.name ?? lock.name, scope: lock.scope }
    return platform.inspected(this, known, () => this[look](lock), options, inspect)
  }
}

/** Returns the `options` of a wait completed by the defaults of `it`. */
const withDefaults = (it, options) => completed(options, defaultsOf(it))

/** Returns the limits of a wait of `it` that blocks this thread. */
const blockingLimits = (it, options) => readSyncWait(withDefaults(it, options))

module.exports = {
  Base,
  blockingLimits,
  blockingLockOf,
  cancelErrorOf,
  close,
  defaultsOf,
  kindOf,
  lockOf,
  look,
  mapOf,
  plainLockOf,
  withDefaults,
}
