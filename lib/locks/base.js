'use strict'
// The base of all public classes of locks: an object with its lock, or with its keyed map, and the kind of its class.
//
// A kind is { class, base, name, bytes, known, local, isGate, isUnranked, over }. `known` has the names of the kind's own
// options, if it has any. `local(...args)` makes a lock of this thread; keyed maps keep idle ones in `atRest` and reuse
// them. `isGate` marks an event, a latch, a barrier or a condition variable, which no thread holds. `isUnranked` marks
// one that admits all waiters together, so that they have no priority. `over(lock)` wraps the lock.
//
// A method finds the lock by lockOf(this, kind, name). If the object is not simply of that kind, its own kind may have
// a lockFor(name, lock, key), which returns the lock that the method uses: for a closed object (closed.js) and for a
// recursive or reentrant one. Of these the closedFor() says which callers may enter although the object is closed.
const { E_CANCELED } = require('../core/errors.js')
const { checkMayBlock, isObject } = require('../core/options.js')
const platform = require('../core/platform.js')
const { isOfKind, receiverError } = require('../core/receiver.js')
const { completed } = require('../core/wait_defaults.js')
const { closedKind } = require('./closed.js')

/** Returns the lock for a call of `method` on `it`. Throws unless `it` is of that kind. */
let lockOf
/** Returns the lock if `it` has a kind of its own, or a derived one. Separate, so that V8 inlines lockOf(). */
let lockOfOther
/** As lockOf(), for a method that blocks this thread. Throws on the main thread. */
let blockingLockOf
/** Returns the `options` of a wait completed by the defaults of `it`. */
let withDefaults
// The same three for keyed maps. On Node 20 a function that reads a private field of more than four classes takes some
// 30 ns instead of one, so no function of a hot path serves all classes.
let mapOf
let blockingMapOf
let withMapDefaults
/** Returns the error that cancel() of `it` rejects with. Objects of one lock may have different errors. */
let cancelErrorOf
/** The constructor's defaults for the waits of `it`, or undefined. */
let defaultsOf
/** Closes `it`. `refusal` stands in for its lock. */
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
    blockingLockOf = (it, kind, method) => {
      const lock = lockOf(it, kind, method)
      checkMayBlock(it.#mayBlock, method)
      return lock
    }
    blockingMapOf = (it, kind, method, key) => {
      const map = mapOf(it, kind, method, key)
      checkMayBlock(it.#mayBlock, method)
      return map
    }
    // Objects without defaults compare here: a call of completed() would cost each wait a nanosecond.
    withDefaults = (it, options) =>
      it.#defaults === undefined ? options : completed(options, it.#defaults)
    withMapDefaults = (it, options) =>
      it.#defaults === undefined ? options : completed(options, it.#defaults)
    cancelErrorOf = (it) => it.#cancelError
    defaultsOf = (it) => it.#defaults
    kindOf = (it) => (isObject(it) && #kind in it ? it.#kind : undefined)
    close = (it, refusal) => {
      if (!it.#kind.isClosed) it.#kind = closedKind(it.#kind, refusal)
    }
  }

  constructor(kind, lock, { cancelError = E_CANCELED, defaults, mayBlock }) {
    this.#lock = lock
    this.#kind = kind
    this.#cancelError = cancelError
    this.#mayBlock = mayBlock
    this.#defaults = defaults
  }

  [platform.inspecting](_depth, options, inspect) {
    // `this` is the prototype of a class.
    if (kindOf(this) === undefined) return this
    const lock = lockOfOther(this, this.#kind)
    return platform.inspected(this, lock, () => this[look](lock), options, inspect)
  }
}

module.exports = {
  Base,
  blockingLockOf,
  blockingMapOf,
  cancelErrorOf,
  close,
  defaultsOf,
  kindOf,
  lockOf,
  look,
  mapOf,
  withDefaults,
  withMapDefaults,
}
