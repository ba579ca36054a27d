'use strict'
// The holds of recursive mutexes: recursive.js has their states.
const { LocalMutex } = require('./mutex.js')
const platform = require('./platform.js')
const { unseen } = require('./releaser.js')

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
    this.root = parent === null ? this : parent.root
    this.around = openFrom(around)
  }

  /** The hold's caller is in, by `grant` of the queue that it came by. */
  enter(grant) {
    const { holds, parent } = this
    this.grant = grant
    if (parent === null) holds.outermost = this
    else parent.child = this
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
    this.#leave()
    this.endIfOver()
  }

  /** Ends the hold before its callback has begun: the next grant is told of a death that this one was told of. */
  closeUnseen() {
    const { mutex, holds, grant, parent } = this
    const { lock } = mutex
    const isHeld = parent === null && lock.grant() === grant
    const giveBack = isHeld
      ? lock.releaser(grant, lock.grantOf(grant).abandoned)[unseen]
      : undefined
    if (giveBack === undefined) {
      this.close()
      return
    }
    this.#leave()
    if (holds.outermost === this) holds.outermost = null
    giveBack()
  }

  #leave() {
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

class InnerMutex extends LocalMutex {
  /** `outer` is the lock of the outermost hold: errors name it and its holder. */
  constructor(outer) {
    super()
    this.outer = outer
  }

  title() {
    return this.outer.title()
  }

  holdersHint(timeout) {
    return this.outer.holdersHint(timeout)
  }
}

module.exports = { context, contexts, Hold, Holds, openFrom }
