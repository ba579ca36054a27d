'use strict'

/**
 * What a caller has of a lock that is watched (a hold), or waits for (a wait). One is made for each grant, or wait,
 * where these are told apart: no fields of classes, which cost more in Node 20, and nothing twice.
 */
class Claim {
  constructor(observer, mode, units, since) {
    this.observer = observer
    this.key = observer.lock.key
    this.mode = mode
    /** How much of a semaphore; how many readers, or 1. */
    this.units = units
    this.since = since
    /** Of a wait: of how many waiters. */
    this.count = 1
    /** Of a hold. */
    this.isOver = false
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

// What only full diagnostics add: all others do without the memory.
Object.assign(Claim.prototype, {
  trace: undefined,
  /** What the search for deadlocks in C++ knows it by. */
  id: undefined,
  promise: undefined,
  /** Of a hold: its Releaser was collected. */
  isLeaked: false,
  /** What is known of that. */
  step: undefined,
  /** Its thread blocks. */
  isSync: false,
  /** Of a reader that upgrades: the hold that it keeps meanwhile. */
  hold: undefined,
  /** The object in the queue, unless its thread blocks. */
  waiter: undefined,
})

module.exports = { Claim }
