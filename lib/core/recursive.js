'use strict'
// A mutex that the chain of calls which holds it may enter again. Each grant is a hold, and the context
// (AsyncLocalStorage) of all that a callback starts says inside which hold it was started. A caller from
// inside a hold is not in the queue of the lock, but in that of the hold:
//
//   the lock's queue      admits one hold at a time: the outermost
//   a hold's inner queue  admits one caller from inside it at a time: its child
//
// So the holds that are not over are a path: the outermost, its child, the child of that one ... Siblings take
// turns, and no hold is in beside another unless one was entered from inside the other.
//
//   open     its callback runs: a caller from inside goes to its inner queue
//   closed   its callback has ended: a caller from inside counts as coming from the next open one around
//            it, or from outside. Callers that came before are still admitted, one after the other
//   over     closed, and no caller from inside is waiting or in: the queue that it came by goes on
const { AsyncLocalStorage } = require('../builtins.js').async_hooks
const { LocalMutex, Runner } = require('./mutex.js')
const { checkStack } = require('./stack.js')
const { acquireOptions, checkCallback, readWait } = require('./options.js')

/**
 * The innermost hold that the running code was started in, of whatever lock. One storage for all locks:
 * on Node 20 and 22 each costs every promise of the process something, and none is ever collected.
 */
const storage = new AsyncLocalStorage()

class Hold {
  isOpen = true
  /** How many from inside are waiting or in. */
  inside = 0
  /** The queue of callers from inside, once there is one. */
  inner = null
  /** The one of them that is in. */
  child = null

  /** Of `mutex`, from inside `parent`, a hold of the same mutex or null; `around` is the context. */
  constructor(mutex, parent, around) {
    this.mutex = mutex
    this.holds = mutex.holds
    this.grant = undefined
    this.parent = parent
    this.around = openFrom(around)
  }

  /** It is in. */
  enter() {
    const { mutex, holds, parent } = this
    this.grant = mutex.lock.grant()
    if (parent === null) holds.outermost = this
    else parent.child = this
  }

  /** The queue for one more caller from inside. */
  comeIn() {
    this.inside++
    this.inner ??= new InnerMutex(this.mutex)
    return this.inner
  }

  /** One from inside is through, or has given up. */
  goOut() {
    this.inside--
    this.endIfOver()
  }

  /** Its callback has ended. */
  close() {
    this.isOpen = false
    this.endIfOver()
  }

  /** And with it those around it that are closed and have waited for it only: no recursion, however many. */
  endIfOver() {
    let hold = this
    while (hold !== null && !hold.isOpen && hold.inside === 0) {
      const { mutex, holds, grant, parent } = hold
      if (parent === null) {
        holds.outermost = null
        // Unless it has ended before: a Mutex in the same memory could do that.
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

/** What the objects of this thread that stand for one recursive mutex have in common. */
class Holds {
  /** The first on the path of holds. */
  outermost = null
  /** Whether a callback of runExclusiveSync is on the stack. */
  isOnStack = false
}

/** `hold`, or the next one around it that is open. */
function openFrom(hold) {
  let open = hold
  while (open !== null && !open.isOpen) open = open.around
  return open
}

/** The innermost open hold of whatever lock. */
function context() {
  return openFrom(storage.getStore() ?? null)
}

/** A recursive mutex: the outermost hold has `lock`, a mutex of whatever scope. */
class Recursive {
  constructor(lock) {
    this.lock = lock
    lock.holds ??= new Holds()
    this.holds = lock.holds
  }

  /** The innermost open hold of this lock, in the context `around`. */
  holdIn(around) {
    let hold = around
    while (hold !== null && hold.holds !== this.holds) {
      // Those that have closed are forgotten on the way: a chain that goes on for ever must not keep them.
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
    checkCallback(callback)
    const around = context()
    const parent = this.holdIn(around)
    let grant
    try {
      grant = await this.lineOf(parent).enter(readWait(options, acquireOptions), Runner)
    } finally {
      if (grant === undefined) parent?.goOut()
    }
    if (grant === undefined) return undefined
    const hold = new Hold(this, parent, around)
    hold.enter()
    try {
      return await storage.run(hold, begin, callback, this.told())
    } finally {
      hold.close()
    }
  }

  runExclusiveSync(callback, limits) {
    checkCallback(callback)
    // By thread, not by context: what runs inside that callback is on its stack. And with nothing to undo:
    // a recursion without end, which overflows the stack, leaves no level of it behind.
    if (this.holds.isOnStack) return callback(this.told())
    const around = context()
    const parent = this.holdIn(around)
    // Here, since at the end of the stack every call may throw: what follows must reach its end.
    checkStack()
    const hold = new Hold(this, parent, around)
    try {
      const line = this.lineOf(parent)
      const isAbandoned = line.lockSync(limits)
      Runner.valueOf(line, line.current, isAbandoned)
    } catch (error) {
      parent?.goOut()
      throw error
    }
    hold.enter()
    this.holds.isOnStack = true
    try {
      return storage.run(hold, callback, this.told())
    } finally {
      this.holds.isOnStack = false
      hold.close()
    }
  }

  /** What callbacks are told: the grant of the outermost hold. */
  told() {
    return this.lock.grantOf(this.holds.outermost.grant)
  }

  /** The queue of a caller that comes from inside `parent`. */
  lineOf(parent) {
    return parent === null ? this.lock : parent.comeIn()
  }

  cancel(reason) {
    this.lock.cancel(reason)
    for (let hold = this.holds.outermost; hold !== null; hold = hold.child) {
      hold.inner?.cancel(reason ?? this.lock.cancelError)
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

/** In the context of its hold: there a thenable, too, is asked for what it will be. */
function begin(callback, grant) {
  return Promise.resolve(callback(grant))
}

module.exports = { Holds, Recursive }
