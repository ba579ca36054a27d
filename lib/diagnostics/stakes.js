'use strict'
// What somebody has of a lock that is watched, or waits for. Both are made for each grant, or wait, where these are
// told apart: no fields of classes, which cost more in Node 20, and nothing twice.

class Hold {
  constructor(record, core, mode, units, since, at) {
    this.record = record
    this.core = core
    this.key = core.key
    this.mode = mode
    /** How much of a semaphore; how many readers, or 1. */
    this.units = units
    this.since = since
    this.isOver = false
    /** Where it lies among the holds of its record. */
    this.at = at
  }

  get weight() {
    return this.mode === undefined ? this.units : undefined
  }

  /** Where it was asked for. */
  get stack() {
    return this.trace?.text
  }
}

class Wait {
  constructor(record, core, mode, units, since) {
    this.record = record
    this.core = core
    this.key = core.key
    this.mode = mode
    this.weight = mode === undefined ? units : undefined
    this.since = since
    /** Of how many who stand in line. */
    this.count = 1
    this.before = null
    this.after = null
  }

  get stack() {
    return this.trace?.text
  }
}

// What the search for deadlocks wants to know besides: all others do without the memory.
Hold.prototype.trace = undefined
Object.assign(Wait.prototype, {
  trace: undefined,
  promise: undefined,
  /** Its thread blocks. */
  isSync: false,
  /** Of somebody who upgrades: the hold that it keeps meanwhile. */
  hold: undefined,
  /** The object that stands in line, unless its thread blocks. */
  waiter: undefined,
})

module.exports = { Hold, Wait }
