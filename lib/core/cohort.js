'use strict'
// The cohort rule (lock cohorting: Dice, Marathe, Shavit): how long a borrower passes a lent lock
// along its own queue while other threads or processes wait for it (docs/decisions/lenders.md). Every
// lender uses it, and so do the leases of engines.
const { now } = require('./builtins.js')

/** A stay ends after `handOffs` and at least `least` ms, and in any case after `most` ms. */
const bounds = Object.freeze({
  /** The bound between threads, and between processes of a machine, where a hand-over takes some 50 us. */
  local: Object.freeze({ handOffs: 0, least: 1, most: 1 }),
  /** The bound between machines, where a hand-over takes a round trip to a server, about 1 ms. */
  remote: Object.freeze({ handOffs: 64, least: 2, most: 100 }),
  /** The bound of `fairness: 'fifo'`. */
  fifo: Object.freeze({ handOffs: 0, least: 0, most: 0 }),
})

/**
 * Reading the clock costs a tenth of a fast hand-off. So while hand-offs are fast, a stay reads the clock only once in
 * up to `mostUnread` hand-offs. They are fast if all those between two readings took at most `longestUnread` ms
 * together.
 */
const mostUnread = 16
const longestUnread = 0.02

/**
 * Returns whether a stay is over, `count` hand-offs and `passed` ms after the first other borrower began to wait.
 */
const isOver = ({ handOffs, least, most }, count, passed) =>
  passed >= most || (passed >= least && count >= handOffs)

/** The time for which one borrower keeps a lock while others wait, from begin() to end(). */
class Stay {
  isOn = false
  #bound
  #start = 0
  #lastLook = 0
  /** The hand-offs up to the last reading of the clock. */
  #handOffs = 0
  /** How many hand-offs may follow before the next reading, and how many of them are left. */
  #stride = 0
  #left = 0

  constructor(bound) {
    this.#bound = bound
  }

  /** Begins a stay as of `passed` ms ago. */
  begin(passed = 0) {
    this.isOn = true
    this.#start = now() - passed
    this.#handOffs = 0
    this.#stride = 0
    this.#left = 0
  }

  /** Ends the stay, when the borrower gives the lock back. */
  end() {
    this.isOn = false
  }

  /**
   * Counts a hand-off. Returns whether the borrower may hand the lock to its own next waiter although other borrowers
   * wait.
   */
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
