'use strict'
// A mutex that code inside its callback may enter again. Each grant is a hold. All code that a callback starts has the
// hold in its async context (AsyncLocalStorage). A caller with a hold in its context is inside that hold: it waits in
// the hold's inner queue instead of the lock's queue.
//
//   the lock's queue      admits one hold at a time: the outermost
//   a hold's inner queue  admits one caller from inside it at a time: its child
//
// So the holds that are not over form a path: the outermost, its child, the child's child ... Siblings take turns. Two
// callbacks run at the same time only if one hold was entered from inside the other.
//
//   open     its callback runs: a caller from inside goes to its inner queue
//   closed   its callback has ended: a new caller from inside counts as inside the next open hold around it, or as
//            outside. Earlier callers are still admitted, one after the other
//   over     closed, and no caller from inside waits or runs: the queue that admitted the hold admits its next waiter
//   lost     the outermost hold has ended before its callback: callers that waited inside have moved to the lock's
//            queue, and a new caller from inside counts as outside
const { withDeadline } = require('./following.js')
const { lockError } = require('./errors.js')
const { Runner } = require('./mutex.js')
const { context, contexts, Hold, Holds, openFrom } = require('./recursive_hold.js')
const platform = require('./platform.js')
const { checkStack } = require('./stack.js')
const { acquireOptions, checkCallback, readWait } = require('./options.js')

function unsupported() {
  const message =
    "reentrant locks need AsyncLocalStorage, which this runtime lacks: use a Mutex, or in Node.js before 20.16 import 'boxoffice'"
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

/** A recursive mutex: the outermost hold has `lock`, a mutex of any scope. */
class Recursive {
  constructor(lock) {
    if (contexts() === undefined) throw unsupported()
    this.outer = lock
    // All objects of one lock share its holds. The lock calls holds.lose() when a grant ends.
    lock.holds ??= new Holds()
    this.holds = lock.holds
  }

  /** Returns this lock's innermost open hold in the context `around`, or null if there is none or it is lost. */
  holdIn(around) {
    let hold = around
    while (hold !== null && hold.holds !== this.holds) {
      // Skip closed holds for good: an endless chain of contexts must not keep them alive.
      hold.around = openFrom(hold.around)
      hold = hold.around
    }
    return hold === null || this.hasLost(hold) ? null : hold
  }

  isHeld() {
    return this.isOnStack() || this.holdIn(context()) !== null
  }

  /**
   * Whether the outermost hold around `hold` has ended before its callback: by its maxHold, by release(key), or by a
   * Mutex on the same memory.
   */
  hasLost({ root }) {
    return root.grant !== root.mutex.outer.grant()
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
    // Entering again changes no state. So an endless recursion that overflows the stack leaves nothing to undo.
    if (this.isOnStack()) return platform.atOnce(callback(this.told(this.holds.outermost)))
    const hold = this.enterSync(context(), limits)
    try {
      return platform.atOnce(contexts().run(hold, callback, this.told(hold)))
    } finally {
      hold.close()
    }
  }

  /** Whether the running code is inside a callback of runExclusiveSync(), which then is on the stack. */
  isOnStack() {
    const { isOnStack, outermost } = this.holds
    return isOnStack && !this.hasLost(outermost)
  }

  /** Blocks this thread until it has entered from the context `around`. Returns the hold. */
  enterSync(around, limits) {
    const parent = this.holdIn(around)
    // Near the end of the stack every call may throw, and the steps below must all run.
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
    hold.isOnStack = true
    this.holds.isOnStack = true
    return hold
  }

  /**
   * Resolves to the hold of a caller in the context `around`, or to undefined if `ifAvailable` and the lock is taken.
   */
  enterFrom(around, limits) {
    const parent = this.holdIn(around)
    return parent?.inner?.isLocked() && limits.timeout > 0
      ? this.#enterInTime(parent, around, limits)
      : this.#enter(parent, around, limits)
  }

  /**
   * As #enter(), with one deadline for the whole wait: if the hold is lost, the caller waits again in the lock's queue.
   */
  async #enterInTime(parent, around, limits) {
    const { timeout } = limits
    const limit = withDeadline(limits.signal, timeout, () => this.outer.timeoutError(timeout))
    limit.start()
    try {
      const { signal } = limit
      return await this.#enter(parent, around, { ...limits, timeout: undefined, signal })
    } finally {
      limit.end()
    }
  }

  /**
   * Enters through the inner queue of `parent`. If it is null or lost while the caller waits, enters through the
   * lock's.
   */
  async #enter(parent, around, limits) {
    /** `parent`, once its inner queue has admitted the caller. */
    let inside = null
    let grant
    try {
      grant = await this.mutexOf(parent).enter(limits, Runner)
      if (grant === parent?.inner.grant()) inside = parent
    } finally {
      if (inside === null) parent?.goOut()
    }
    if (grant === undefined) return undefined
    const hold = new Hold(this, inside, around)
    hold.enter(grant)
    if (inside === null) return hold
    // Over an engine the outermost hold may have lost its lease while its callback still runs: then the call rejects.
    const loss = this.hasLost(hold) ? null : this.outer.lossOf?.(hold.root.grant)
    if (loss === undefined) return hold
    hold.close()
    if (loss !== null) throw loss
    // The outermost hold has ended since the grant of the inner queue.
    return this.enterFrom(around, { ...limits, maxPending: undefined })
  }

  /** Returns the grant for a callback: the grant of the outermost hold around its hold. */
  told({ root }) {
    return this.outer.grantOf(root.grant)
  }

  /** Returns the mutex in whose queue a caller from inside `parent` waits. */
  mutexOf(parent) {
    return parent === null ? this.outer : parent.comeIn()
  }

  cancel(reason) {
    this.outer.cancel(reason)
    for (let hold = this.holds.outermost; hold !== null; hold = hold.child) {
      hold.inner?.cancel(reason)
    }
  }
}

/** Called in the context of the hold, so that a thenable's then() also runs in it. */
function begin(callback, grant) {
  return Promise.resolve(callback(grant))
}

module.exports = { begin, Recursive }
