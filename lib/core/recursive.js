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
const { withDeadline } = require('./following.js')
const { lockError } = require('./errors.js')
const { Runner } = require('./mutex.js')
const { context, contexts, Hold, Holds, openFrom } = require('./recursive_hold.js')
const platform = require('./platform.js')
const { checkStack } = require('./stack.js')
const { acquireOptions, checkCallback, readWait } = require('./options.js')

/** The state shared by all objects of `lock`. */
function holdsOf(lock) {
  lock.holds ??= new Holds()
  return lock.holds
}

/** Over an engine, why another process may have the lock. The other callers of this thread wait for the callback anyway. */
const lossOf = ({ root }) => root.mutex.lock.lossOf?.(root.grant)

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
    if (this.isOnStack()) return callback(this.told(this.holds.outermost))
    const hold = this.enterSync(context(), limits)
    try {
      return contexts().run(hold, callback, this.told(hold))
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
  async enterFrom(around, limits) {
    const deadline = platform.now() + limits.timeout
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
    if (parent === null) return hold
    const isToQueueAgain = this.hasLost(hold)
    const loss = lossOf(hold)
    if (!isToQueueAgain && loss === undefined) return hold
    hold.close()
    if (!isToQueueAgain) throw loss
    return this.#enterOutside(around, limits, deadline)
  }

  /** Enters by the lock's queue a caller that has waited inside of a hold, which has been lost meanwhile. */
  async #enterOutside(around, limits, deadline) {
    const { timeout, signal } = limits
    // The caller has found room in a queue before, so `maxPending` does not apply again.
    const rest = { ...limits, maxPending: undefined }
    if (!(timeout > 0)) return this.enterFrom(around, rest)
    const left = Math.max(0, deadline - platform.now())
    const limit = withDeadline(signal, left, () => this.lock.timeoutError(timeout))
    limit.start()
    try {
      return await this.enterFrom(around, { ...rest, timeout: undefined, signal: limit.signal })
    } finally {
      limit.end()
    }
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

/** Calls `callback(grant)` inside `hold`, or outside of all if that is null. */
const runInside = (hold, callback, grant) => contexts().run(hold, begin, callback, grant)
const runInsideSync = (hold, callback, grant) => contexts().run(hold, callback, grant)

module.exports = { Recursive, runInside, runInsideSync }
