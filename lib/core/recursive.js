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
//   lost     its outermost hold has ended before its callback. Callers that wait inside have moved to the lock's queue,
//            and a caller from inside counts as coming from outside
const { withDeadline } = require('./following.js')
const { lockError } = require('./errors.js')
const { Runner } = require('./mutex.js')
const { context, contexts, Hold, Holds, openFrom } = require('./recursive_hold.js')
const { checkStack } = require('./stack.js')
const { acquireOptions, atOnce, checkCallback, readWait } = require('./options.js')

function unsupported() {
  const message =
    "reentrant locks need AsyncLocalStorage, which this runtime lacks: use a Mutex, or in Node.js before 20.16 import 'boxoffice'"
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

/** A recursive mutex: the outermost hold has `lock`, a mutex of any scope. */
class Recursive {
  constructor(lock) {
    if (contexts() === undefined) throw unsupported()
    this.lock = lock
    // All objects of the lock share them. The lock calls their lose() when a grant ends.
    lock.holds ??= new Holds()
    this.holds = lock.holds
  }

  /** The innermost open hold of this lock in the context `around`, unless it has ended before its callback. */
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
   * Whether `hold` has ended before its callback: by its maxHold, by release(key), or by a Mutex on the same memory.
   */
  hasLost({ root }) {
    return root.grant !== root.mutex.lock.grant()
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
    if (this.isOnStack()) return atOnce(callback(this.told(this.holds.outermost)))
    const hold = this.enterSync(context(), limits)
    try {
      return atOnce(contexts().run(hold, callback, this.told(hold)))
    } finally {
      hold.close()
    }
  }

  /** Whether the running code is inside a callback of runExclusiveSync(): then that callback is on the stack. */
  isOnStack() {
    const { isOnStack, outermost } = this.holds
    return isOnStack && !this.hasLost(outermost)
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
    hold.isOnStack = true
    this.holds.isOnStack = true
    return hold
  }

  /** Resolves to a hold that is entered from inside `around`; to undefined if the lock is not available. */
  enterFrom(around, limits) {
    const parent = this.holdIn(around)
    return parent?.inner?.isLocked() && limits.timeout > 0
      ? this.#enterInTime(parent, around, limits)
      : this.#enter(parent, around, limits)
  }

  /** Has one deadline for the whole wait: when the hold is lost, the caller waits again in the lock's queue. */
  async #enterInTime(parent, around, limits) {
    const { timeout } = limits
    const limit = withDeadline(limits.signal, timeout, () => this.lock.timeoutError(timeout))
    limit.start()
    try {
      const { signal } = limit
      return await this.#enter(parent, around, { ...limits, timeout: undefined, signal })
    } finally {
      limit.end()
    }
  }

  /** Enters inside `parent`, or by the lock's queue if `parent` is null or lost while the caller waits. */
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
    // Over an engine another process may have the lock. The other callers of this thread wait for the callback anyway.
    const loss = this.hasLost(hold) ? null : this.lock.lossOf?.(hold.root.grant)
    if (loss === undefined) return hold
    hold.close()
    if (loss !== null) throw loss
    // The outermost hold has ended since the grant of the inner queue.
    return this.enterFrom(around, { ...limits, maxPending: undefined })
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
    return this.lock.shared?.name ?? this.lock.name
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

module.exports = { begin, Recursive }
