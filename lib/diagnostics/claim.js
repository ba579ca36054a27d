'use strict'

/**
 * A caller's claim on a lock with diagnostics: a hold or a wait. With full diagnostics each grant and each wait has its
 * own claim. The constructor sets fields because class fields cost more on Node 20.
 */
class Claim {
  constructor(observer, mode, units, since) {
    this.observer = observer
    this.key = observer.lock.key
    this.mode = mode
    /** The units of a semaphore, the number of readers, or 1. */
    this.units = units
    this.since = since
    /** The number of waiters that a wait stands for. */
    this.count = 1
    /** Whether the hold has been released. */
    this.isOver = false
  }

  get weight() {
    return this.mode === undefined ? this.units : undefined
  }

  get lock() {
    return this.observer.lock
  }

  /** The stack of the acquire. */
  get stack() {
    return this.trace?.text
  }
}

// Fields that only full diagnostics set. On the prototype they take no memory with 'counters'.
Object.assign(Claim.prototype, {
  trace: undefined,
  /** The number of the claim in C++'s deadlock detection. */
  id: undefined,
  promise: undefined,
  /** The innermost link in which a wait began, and the innermost one for sure (link.js). */
  around: undefined,
  sure: undefined,
  /** Whether the Releaser of the hold was collected as garbage. */
  isLeaked: false,
  /** The step of `promise`, if known (steps.js). */
  step: undefined,
  /** Whether the waiting thread blocks. */
  isSync: false,
  /** For the wait of an upgrade: the hold that the reader keeps meanwhile. */
  hold: undefined,
  /** The waiter in the queue, unless the thread blocks. */
  waiter: undefined,
})

module.exports = { Claim }
