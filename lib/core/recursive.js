'use strict'
// A mutex that the chain of calls that holds it may enter again. Each grant is a hold. The context
// (AsyncLocalStorage) of everything a callback starts records the hold it was started in. A caller
// from inside a hold does not wait in the lock's queue, but in that hold's queue:
//
//   the lock's queue      admits one hold at a time: the outermost
//   a hold's inner queue  admits one caller from inside it at a time: its child
//
// So the holds that are not over form a path: the outermost, its child, that one's child ... Siblings take
// turns. Two holds are in at the same time only if one was entered from inside the other.
//
//   open     its callback runs: a caller from inside goes to its inner queue
//   closed   its callback has ended: a caller from inside counts as coming from the next open one around
//            it, or from outside. Callers that came before are still admitted, one after the other
//   over     closed, and no caller from inside is waiting or in: the queue that it came by goes on
const { lockError } = require('./errors.js')
const { Runner } = require('./mutex.js')
const { context, contexts, Hold, Holds, openFrom } = require('./recursive_hold.js')
const { checkStack } = require('./stack.js')
const { acquireOptions, checkCallback, readWait } = require('./options.js')

/** The state shared by all objects of `lock`. */
function holdsOf(lock) {
  lock.holds ??= new Holds()
  return lock.holds
}

function unsupported() {
  const message =
    "reentrant locks need AsyncLocalStorage, which this runtime does not have: use a plain Mutex, or in Node.js before 20.16 import 'boxoffice'"
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

/** A recursive mutex: the outermost hold has `lock`, a mutex of any scope. */
class Recursive {
  constructor(lock, holds = holdsOf(lock)) {
    if (contexts() === undefined) throw unsupported()
    this.lock = lock
    this.holds = holds
  }

  /** The innermost open hold of this lock in the context `around`. */
  holdIn(around) {
    let hold = around
    while (hold !== null && hold.holds !== this.holds) {
      // Skip closed holds for good: an endless chain of contexts must not keep them alive.
      hold.around = openFrom(hold.around)
      hold = hold.around
    }
    return hold
  }

  isHeld() {
    return this.holds.isOnStack || this.holdIn(context()) !== null
  }

  runExclusive(callback, options) {
    checkStack()
    return this.runInTurn(callback, options)
  }

  async runInTurn(callback, options) {
    checkCallback(callback, undefined, options)
    const hold = await this.enterFrom(context(), readWait(options, acquireOptions))
    if (hold === undefined) return undefined
    try {
      return await contexts().run(hold, begin, callback, this.told(hold))
    } finally {
      hold.close()
    }
  }

  runExclusiveSync(callback, limits) {
    checkCallback(callback)
    // It changes no state, so an endless recursion that overflows the stack leaves nothing to undo.
    if (this.isOnStack()) return callback(this.told(this.holds.outermost))
    const hold = this.enterSync(context(), limits)
    try {
      return contexts().run(hold, callback, this.told(hold))
    } finally {
      this.leaveSync(hold)
    }
  }

  /** Whether a callback of runExclusiveSync() is around: by thread, not by context, because code inside it is on its stack. */
  isOnStack() {
    return this.holds.isOnStack
  }

  /** Enters from inside `around`, and blocks this thread until then. */
  enterSync(around, limits) {
    const parent = this.holdIn(around)
    // Check here, because near the end of the stack every call may throw, and the steps below must
    // all run.
    checkStack()
    const hold = new Hold(this, parent, around)
    let grant
    try {
      const mutex = this.mutexOf(parent)
      const isAbandoned = mutex.lockSync(limits)
      grant = Runner.valueOf(mutex, mutex.grant(), isAbandoned)
    } catch (error) {
      parent?.goOut()
      throw error
    }
    hold.enter(grant)
    this.holds.isOnStack = true
    return hold
  }

  leaveSync(hold) {
    this.holds.isOnStack = false
    hold.close()
  }

  /** Resolves to a hold that is entered from inside `around`; to undefined if the lock is not available. */
  async enterFrom(around, limits) {
    const parent = this.holdIn(around)
    let grant
    try {
      grant = await this.mutexOf(parent).enter(limits, Runner)
    } finally {
      if (grant === undefined) parent?.goOut()
    }
    if (grant === undefined) return undefined
    const hold = new Hold(this, parent, around)
    hold.enter(grant)
    if (!this.hasLost(hold)) return hold
    hold.close()
    return this.enterFrom(around, limits)
  }

  /** Whether the hold that `hold` was entered from inside of has ended while its caller waited. */
  hasLost(_hold) {
    return false
  }

  /** The grant that callbacks get: that of the outermost hold around `hold`. */
  told({ root }) {
    return this.lock.grantOf(root.grant)
  }

  /** The queue for a caller from inside `parent`. */
  mutexOf(parent) {
    return parent === null ? this.lock : parent.comeIn()
  }

  cancel(reason = this.lock.cancelError) {
    this.lock.cancel(reason)
    for (let hold = this.holds.outermost; hold !== null; hold = hold.child) {
      hold.inner?.cancel(reason)
    }
  }

  isLocked() {
    return this.lock.isLocked()
  }

  title() {
    return this.lock.title()
  }

  get scope() {
    return this.lock.scope
  }

  get name() {
    return this.lock.share?.name ?? this.lock.name
  }

  get observer() {
    return this.lock.observer
  }

  onIdle() {
    return this.lock.onIdle()
  }

  snapshot() {
    return this.lock.snapshot()
  }

  memory() {
    return this.lock.memory()
  }
}

/** Calls `callback` in the context of its hold, and resolves a thenable there, too. */
function begin(callback, grant) {
  return Promise.resolve(callback(grant))
}

/** The mutex of a key. Unlike a RecursiveMutex it can be released by the key, and may serve another key then. */
class RecursiveKey extends Recursive {
  constructor(lock) {
    // Not those of the lock, which is also a plain mutex.
    super(lock, new Holds())
  }

  /** A hold that has ended before its callback does not count. */
  holdIn(around) {
    const hold = super.holdIn(around)
    return hold !== null && hold.root.grant === this.lock.grant() ? hold : null
  }

  hasLost({ parent, root }) {
    return parent !== null && root.grant !== this.lock.grant()
  }

  isOnStack() {
    return super.isOnStack() && this.holds.outermost?.grant === this.lock.grant()
  }
}

/** Calls `callback(grant)` inside `hold`, or outside of all if that is null. */
const runInside = (hold, callback, grant) => contexts().run(hold, begin, callback, grant)
const runInsideSync = (hold, callback, grant) => contexts().run(hold, callback, grant)

module.exports = { Recursive, RecursiveKey, runInside, runInsideSync }
