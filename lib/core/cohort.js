'use strict'
// The cohort rule (lock cohorting: Dice, Marathe, Shavit): how long a borrower passes a lent lock along its own queue
// while others wait for it (DESIGN.md, section 2). Every lender goes by this file.
const { performance } = require('../builtins.js').perf_hooks

// Taken at load: users fake clocks.
const now = performance.now.bind(performance)

/** A stay ends after `handOffs`, but not before `least` ms, and after `most` ms whatever happened. */
const bounds = Object.freeze({
  /** Between threads, and between processes of a machine: a hand-over takes some 50 us. */
  near: Object.freeze({ handOffs: 0, least: 1, most: 1 }),
  /** Between machines: a hand-over takes a round trip to a server, about 1 ms. */
  far: Object.freeze({ handOffs: 64, least: 2, most: 100 }),
  /** fairness: 'fifo'. */
  none: Object.freeze({ handOffs: 0, least: 0, most: 0 }),
})

/** To read the clock takes a tenth of a fast hand-off: it is read once for so many, while they take no longer in all. */
const mostUnread = 16
const longestUnread = 0.02

/** Whether a stay is over by that, after so many hand-offs and `passed` ms since others began to wait. */
const isOver = ({ handOffs, least, most }, count, passed) =>
  passed >= most || (passed >= least && count >= handOffs)

/** One borrower's stay with a lock, from begin() to end(). */
class Stay {
  isOn = false
  #bound
  #start = 0
  #lastLook = 0
  /** Hand-offs up to the last look at the clock, how many may follow until the next one, and what is left of these. */
  #handOffs = 0
  #stride = 0
  #left = 0

  constructor(bound) {
    this.#bound = bound
  }

  /** It began `passed` ms ago. */
  begin(passed = 0) {
    this.isOn = true
    this.#start = now() - passed
    this.#handOffs = 0
    this.#stride = 0
    this.#left = 0
  }

  /** The lock is given back. */
  end() {
    this.isOn = false
  }

  /** Others wait: may the borrower hand the lock on once more? */
  mayHandOn() {
    return --this.#left > 0 || this.#look()
  }

  #look() {
    const time = now()
    const stride = this.#stride
    this.#handOffs += stride
    if (isOver(this.#bound, this.#handOffs, time - this.#start)) return false
    const isFast = stride > 0 && time - this.#lastLook <= longestUnread
    this.#lastLook = time
    this.#stride = isFast ? Math.min(2 * stride, mostUnread) : 1
    this.#left = this.#stride
    return true
  }
}

module.exports = { bounds, isOver, Stay }
