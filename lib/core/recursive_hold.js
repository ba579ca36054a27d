'use strict'
// The holds of recursive mutexes: recursive.js has their states.
const { LocalMutex, Runner } = require('./mutex.js')
const platform = require('./platform.js')
const { checkStack } = require('./stack.js')

/**
 * The innermost hold of any lock that the running code was started in. One storage for all locks:
 * on Node 20 and 22 each storage slows down every promise of the process, and none is ever
 * collected.
 */
let storage

/** The storage, made by the first recursive mutex. Undefined where the runtime has none. */
function contexts() {
  storage ??= platform.contextStorage()
  return storage
}

class Hold {
  isOpen = true
  /** Whether its callback blocks this thread. */
  isOnStack = false
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
    this.root = parent?.root ?? this
    this.around = openFrom(around)
  }

  /** The hold's caller is in, by `grant` of the queue that it came by. */
  enter(grant) {
    const { holds, mutex, parent } = this
    this.grant = grant
    if (parent !== null) parent.child = this
    // The grant may have ended before its caller goes on, and another hold may be the outermost.
    else if (!mutex.hasLost(this)) holds.outermost = this
  }

  /** Counts one more caller from inside, and returns the queue for it. */
  comeIn() {
    this.inside++
    this.inner ??= new InnerMutex(this.mutex.lock)
    return this.inner
  }

  /** A caller from inside has ended, or given up. */
  goOut() {
    this.inside--
    this.endIfOver()
  }

  /** The hold's callback has ended. Idempotent, as a releaser is. */
  close() {
    if (!this.isOpen) return
    this.leave()
    this.endIfOver()
  }

  /** No caller comes in from inside any more. */
  leave() {
    this.isOpen = false
    if (this.isOnStack) this.holds.isOnStack = false
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

  /**
   * The lock is about to end `grant`. When that ends the outermost hold before its callback, the callers that wait inside
   * move to the lock's queue. Returns whether a callback of an observer or a signal has ended the grant meanwhile.
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

/** `hold`, or the innermost open hold around it. */
function openFrom(hold) {
  let open = hold
  while (open !== null && !open.isOpen) open = open.around
  return open
}

/** The innermost open hold of any lock. */
function context() {
  return openFrom(contexts().getStore() ?? null)
}

/** A caller that waits inside a hold, with its `limits`. */
class InnerWaiter extends Runner {
  constructor(resolve, limits, given) {
    super(resolve, limits)
    this.given = given
  }
}

class InnerMutex extends LocalMutex {
  /** `outer` is the lock of the outermost hold: errors name it, and waiters may move to its queue. */
  constructor(outer) {
    super()
    this.outer = outer
  }

  queueUp(weight, limits) {
    const promise = super.queueUp(weight, limits, InnerWaiter, limits)
    // Where the hold may end by itself, the lock keeps the process alive.
    return this.outer.during?.(promise) ?? promise
  }

  /** Moves every waiter to the queue of the lock, which is still held. */
  moveWaiters() {
    for (const waiter of this.waiters()) {
      this.dequeue(waiter)
      waiter.end()
      try {
        // The caller has found room in a queue before, so `maxPending` does not apply again.
        const limits = { ...waiter.given, maxPending: undefined }
        waiter.resolve(this.outer.enter(limits, Runner))
      } catch (error) {
        // The lock has no room for one more waiter.
        waiter.reject(error)
      }
    }
  }

  title() {
    return this.outer.title()
  }
}

module.exports = { context, contexts, Hold, Holds, openFrom }
