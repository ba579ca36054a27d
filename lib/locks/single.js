'use strict'
// What every object has in common that stands for a single lock, event, condition ...
const { checkMayBlock } = require('../lock_options.js')
const { isObject, isOfKind, receiverError } = require('./receiver.js')
const { openLock } = require('../scopes.js')

/** What all of them are. */
const single = { class: 'Single', instance: 'a lock' }

/** The lock of `it`, which is the `this` of `method` of that kind: anything else throws. */
let coreOf
/** The same for a method that is about to block this thread. */
let blockingCoreOf
/** The same: what cancel() of it rejects with. Over an engine objects of one core may differ in that. */
let cancelErrorOf
/** What the constructor of `it` says for its waits, or undefined. */
let defaultsOf
/** What close() makes of `it`. */
let close
/** The kind of `it`, which may be anything: undefined where it is no object of these classes. */
let kindOf

class Single {
  #core
  #kind
  #cancelError
  #mayBlock
  #defaults

  static {
    defaultsOf = (it) => it.#defaults
    kindOf = (it) => (isObject(it) && #kind in it ? it.#kind : undefined)
    coreOf = (it, kind, method) => {
      try {
        if (it.#kind === kind) return it.#core
      } catch {
        // It has no such field. To ask for that first would cost each call a nanosecond.
        throw receiverError(kind, method, it)
      }
      if (!isOfKind(it.#kind, kind)) throw receiverError(kind, method, it, it.#kind)
      const { lockFor } = it.#kind
      return lockFor === undefined ? it.#core : lockFor(method)
    }
    close = (it) => {
      if (it.#kind.lockFor !== undefined) return
      it.#kind = require('./closed.js').closedSingle(it.#kind, it.#core)
    }
    blockingCoreOf = (it, kind, method) => {
      const core = coreOf(it, kind, method)
      checkMayBlock(it.#mayBlock, method)
      return core
    }
    cancelErrorOf = (it, kind, method) => {
      coreOf(it, kind, method)
      return it.#cancelError
    }
  }

  constructor(kind, args, options) {
    const { lock, cancelError, defaults, mayBlock } = openLock(kind, args, options)
    this.#core = lock
    this.#kind = kind
    this.#cancelError = cancelError
    this.#mayBlock = mayBlock
    this.#defaults = defaults
  }

  get buffer() {
    return coreOf(this, single, 'buffer').memory().buffer
  }

  get byteOffset() {
    return coreOf(this, single, 'byteOffset').memory().byteOffset
  }
}

/** What locks are that callers hold. */
const holdable = {
  class: 'Holdable',
  base: single,
  instance: 'a mutex, a semaphore or a read-write lock',
}

class Holdable extends Single {
  isLocked() {
    return coreOf(this, holdable, 'isLocked').isLocked()
  }

  cancel(reason = cancelErrorOf(this, holdable, 'cancel')) {
    coreOf(this, holdable, 'cancel').cancel(reason)
  }

  snapshot() {
    return coreOf(this, holdable, 'snapshot').snapshot()
  }

  async close() {
    const core = coreOf(this, holdable, 'close')
    close(this)
    await core.onIdle()
  }

  async onIdle() {
    await coreOf(this, holdable, 'onIdle').onIdle()
  }
}

module.exports = {
  blockingCoreOf,
  coreOf,
  defaultsOf,
  Holdable,
  holdable,
  kindOf,
  Single,
  single,
}
