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
const { AsyncLocalStorage } = require('./builtins.js').async_hooks
const { LocalMutex, Runner } = require('./mutex.js')
const { checkStack } = require('./stack.js')
const { acquireOptions, checkCallback, readWait } = require('./options.js')

/**
 * The innermost hold of any lock that the running code was started in. One storage for all locks:
 * on Node 20 and 22 each storage slows down every promise of the process, and none is ever
 * collected.
 */
const storage = new AsyncLocalStorage()

class Hold {
  isOpen = true
  /** The number of callers from inside that wait or are in. */
  inside = 0
  /** The queue of callers from inside, created for the first of them. */
  inner = null
  /** The hold of the caller from inside that is in. */
  child = null

  /**
   * A hold of `mutex`, entered from inside `parent` (a hold of the same mutex, or null); `around`
   * is the context.
   */
  constructor(mutex, parent, around) {
    this.mutex = mutex
    this.holds = mutex.holds
    this.grant = undefined
    this.parent = parent
    this.root = parent === null ? this : parent.root
    this.around = openFrom(around)
  }

  /** The hold's caller is in. */
  enter() {
    const { mutex, holds, parent } = this
    this.grant = mutex.lock.grant()
    if (parent === null) holds.outermost = this
    else parent.child = this
  }

  /** Counts one more caller from inside, and returns the queue for it. */
  comeIn() {
    this.inside++
    this.inner ??= new InnerMutex(this.mutex)
    return this.inner
  }

  /** A caller from inside has ended, or given up. */
  goOut() {
    this.inside--
    this.endIfOver()
  }

  /** The hold's callback has ended. */
  close() {
    this.isOpen = false
    this.endIfOver()
  }

  /**
   * Ends the hold if it is over, and the closed holds around it that waited only for it: a loop, so
   * that depth costs no stack.
   */
  endIfOver() {
    let hold = this
    while (hold !== null && !hold.isOpen && hold.inside === 0) {
      const { mutex, holds, grant, parent } = hold
      if (parent === null) {
        // It may have ended before, by its maxHold or by a Mutex on the same memory. Another one may
        // be in by now.
        if (holds.outermost === hold) holds.outermost = null
        if (mutex.lock.grant() === grant) mutex.lock.unlock()
      } else {
        parent.child = null
        parent.inside--
        parent.inner.unlock()
      }
      hold = parent
    }
  }
}

/** State shared by the objects of this thread that stand for one recursive mutex. */
class Holds {
  /** The first hold on the path. */
  outermost = null
  /** Whether a callback of runExclusiveSync is on the stack. */
  isOnStack = false
}

/** `hold`, or the innermost open hold around it. */
function openFrom(hold) {
  let open = hold
  while (open !== null && !open.isOpen) open = open.around
  return open
}

/** The innermost open hold of any lock. */
function context() {
  return openFrom(storage.getStore() ?? null)
}

/** A recursive mutex: the outermost hold has `lock`, a mutex of any scope. */
class Recursive {
  constructor(lock) {
    this.lock = lock
    lock.holds ??= new Holds()
    this.holds = lock.holds
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
    const around = context()
    const parent = this.holdIn(around)
    let grant
    try {
      grant = await this.mutexOf(parent).enter(readWait(options, acquireOptions), Runner)
    } finally {
      if (grant === undefined) parent?.goOut()
    }
    if (grant === undefined) return undefined
    const hold = new Hold(this, parent, around)
    hold.enter()
    try {
      return await storage.run(hold, begin, callback, this.told(hold))
    } finally {
      hold.close()
    }
  }

  runExclusiveSync(callback, limits) {
    checkCallback(callback)
    // By thread, not by context: code inside that callback is on its stack. It changes no state, so
    // an endless recursion that overflows the stack leaves nothing to undo.
    if (this.holds.isOnStack) return callback(this.told(this.holds.outermost))
    const around = context()
    const parent = this.holdIn(around)
    // Check here, because near the end of the stack every call may throw, and the steps below must
    // all run.
    checkStack()
    const hold = new Hold(this, parent, around)
    try {
      const mutex = this.mutexOf(parent)
      const isAbandoned = mutex.lockSync(limits)
      Runner.valueOf(mutex, mutex.current, isAbandoned)
    } catch (error) {
      parent?.goOut()
      throw error
    }
    hold.enter()
    this.holds.isOnStack = true
    try {
      return storage.run(hold, callback, this.told(hold))
    } finally {
      this.holds.isOnStack = false
      hold.close()
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

class InnerMutex extends LocalMutex {
  constructor(whole) {
    super()
    this.whole = whole
  }

  title() {
    return this.whole.lock.title()
  }
}

/** Calls `callback` in the context of its hold, and resolves a thenable there, too. */
function begin(callback, grant) {
  return Promise.resolve(callback(grant))
}

module.exports = { Holds, Recursive }
