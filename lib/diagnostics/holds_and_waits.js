'use strict'
// What a caller has of a lock that is watched, or waits for. Both are made for each grant, or wait, where these are
// told apart: no fields of classes, which cost more in Node 20, and nothing twice.

class Hold {
  constructor(observer, mode, units, since, at) {
    this.observer = observer
    this.key = observer.lock.key
    this.mode = mode
    /** How much of a semaphore; how many readers, or 1. */
    this.units = units
    this.since = since
    this.isOver = false
    /** Where it lies among the holds of its observer. */
    this.at = at
  }

  get weight() {
    return this.mode === undefined ? this.units : undefined
  }

  get lock() {
    return this.observer.lock
  }

  /** Where it was asked for. */
  get stack() {
    return this.trace?.text
  }
}

class Wait {
  constructor(observer, mode, units, since) {
    this.observer = observer
    this.key = observer.lock.key
    this.mode = mode
    this.weight = mode === undefined ? units : undefined
    this.since = since
    /** Of how many waiters. */
    this.count = 1
    this.before = null
    this.after = null
  }

  get lock() {
    return this.observer.lock
  }

  get stack() {
    return this.trace?.text
  }
}

// What only full diagnostics add: all others do without the memory.
Hold.prototype.trace = undefined
Object.assign(Wait.prototype, {
  trace: undefined,
  promise: undefined,
  /** What is known of that. */
  step: undefined,
  /** Its thread blocks. */
  isSync: false,
  /** Of a reader that upgrades: the hold that it keeps meanwhile. */
  hold: undefined,
  /** The object in the queue, unless its thread blocks. */
  waiter: undefined,
})

module.exports = { Hold, Wait }
