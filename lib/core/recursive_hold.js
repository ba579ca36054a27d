'use strict'
// The holds of recursive mutexes: recursive.js has their states.
const { LocalMutex, Runner } = require('./mutex.js')
const platform = require('./platform.js')
const { checkStack } = require('./stack.js')

/**
 * Stores the innermost hold, of any lock, in the context of the running code. All locks share one storage: on Node 20
 * and 22 each storage slows down every promise of the process, and is never collected.
 */
let storage

/** Returns the storage, which the first recursive mutex makes. Undefined if the runtime has no AsyncLocalStorage. */
function contexts() {
  storage ??= platform.contextStorage()
  return storage
}

class Hold {
  isOpen = true
  /** Whether its callback blocks this thread. */
  isOnStack = false
  /** The number of callers from inside that wait or hold. */
  inside = 0
  /** The queue of callers from inside, created for the first of them. */
  inner = null
  /** The hold that the inner queue has admitted. */
  child = null

  /**
   * A hold of `mutex`, entered from inside `parent`, a hold of the same mutex or null. `around` is the innermost hold
   * of any lock in the caller's context.
   */
  constructor(mutex, parent, around) {
    this.mutex = mutex
    this.holds = mutex.holds
    this.grant = undefined
    this.parent = parent
    this.root = parent?.root ?? this
    this.around = openFrom(around)
  }

  /** Begins the hold, under the number `grant` of the mutex that admitted it. */
  enter(grant) {
    const { holds, mutex, parent } = this
    this.grant = grant
    if (parent !== null) parent.child = this
    // The grant may have ended before its caller resumes, and another hold may be the outermost by now.
    else if (!mutex.hasLost(this)) holds.outermost = this
  }

  /** Counts one more caller from inside, and returns the mutex whose queue it enters. */
  comeIn() {
    this.inside++
    this.inner ??= new InnerMutex(this.mutex.outer)
    return this.inner
  }

  /** Counts a caller from inside that has released or given up. */
  goOut() {
    this.inside--
    this.endIfOver()
  }

  /** Closes the hold when its callback has ended. Idempotent. */
  close() {
    if (!this.isOpen) return
    this.leave()
    this.endIfOver()
  }

  /** Lets no more callers in from inside. */
  leave() {
    this.isOpen = false
    if (this.isOnStack) this.holds.isOnStack = false
  }

  /**
   * Ends the hold if it is over, then each closed hold around it that waited only for it. Loops, so that depth costs no
   * stack.
   */
  endIfOver() {
    let hold = this
    while (hold !== null && !hold.isOpen && hold.inside === 0) {
      const { mutex, holds, grant, parent } = hold
      if (parent === null) {
        // The hold may have been lost before, and another hold may be the outermost by now.
        if (holds.outermost === hold) holds.outermost = null
        if (mutex.outer.grant() === grant) mutex.outer.unlock()
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

  /**
   * Called when the lock is about to end `grant`. If the outermost hold has that grant, its callback has not ended: so
   * the callers that wait inside move to the lock's queue. Returns whether a callback of an observer or a signal has
   * ended the grant meanwhile.
   */
  lose(grant) {
    const { outermost } = this
    if (outermost?.grant !== grant) return false
    checkStack()
    this.outermost = null
    this.isOnStack = false
    for (let hold = outermost; hold !== null; hold = hold.child) hold.inner?.moveWaiters()
    return outermost.mutex.hasLost(outermost)
  }
}

/** Returns `hold` if it is open, else the innermost open hold around it, or null. */
function openFrom(hold) {
  let open = hold
  while (open !== null && !open.isOpen) open = open.around
  return open
}

/** Returns the innermost open hold, of any lock, in the context of the running code. */
function context() {
  return openFrom(contexts().getStore() ?? null)
}

/** A caller that waits inside a hold. `given` are the limits that it asked for. */
class InnerWaiter extends Runner {
  constructor(resolve, limits, given) {
    super(resolve, limits)
    this.given = given
  }
}

class InnerMutex extends LocalMutex {
  /** `outer` is the lock of the outermost hold. Errors name it, and moveWaiters() moves waiters to its queue. */
  constructor(outer) {
    super()
    this.outer = outer
  }

  queueUp(weight, limits) {
    const promise = super.queueUp(weight, limits, InnerWaiter, limits)
    // If the hold may end by itself, by its maxHold or its lease, the lock keeps the process alive for this wait.
    return this.outer.during?.(promise) ?? promise
  }

  /** Moves every waiter to the queue of the lock, which is still held. */
  moveWaiters() {
    for (const waiter of this.waiters()) {
      this.dequeue(waiter)
      waiter.end()
      try {
        // The caller is already waiting, so `maxPending` does not apply again.
        const limits = { ...waiter.given, maxPending: undefined }
        waiter.resolve(this.outer.enter(limits, Runner))
      } catch (error) {
        // The lock has no memory for one more waiter.
        waiter.reject(error)
      }
    }
  }

  title() {
    return this.outer.title()
  }
}

module.exports = { context, contexts, Hold, Holds, openFrom }
