'use strict'
// What a lock of a wider scope borrows from: the interface that every lender has (DESIGN.md, section 2).
//
// A lender lends one lock to one thread at a time (over an engine: to one process). The local lock (lent_mutex.js)
// calls it, and hears from it by `lock.lent(ticket, isAbandoned)`.
//
//   tryBorrow, borrowNow, or borrow and later lent()    the lock is here: each loan is given back once
//   giveBack                                            another thread may have it

// The answers where there is no ticket, as binding/outcome.h has them.
const lent = -1
/** The last borrower died with it: the next grant is `abandoned`. */
const lentAbandoned = -2
const refused = -3

class Lender {
  /** The local lock that borrows. */
  lock = null

  /** Now, by one compare-and-swap at most, and never after a death. True: the lock is here. */
  tryBorrow() {
    return false
  }

  /** Now or not at all: lent, lentAbandoned or refused. */
  borrowNow() {
    return this.tryBorrow() ? lent : refused
  }

  /**
   * In its turn among other threads: lent or lentAbandoned at once, or a ticket (0 or more), for which the lender
   * calls lock.lent() once. Nothing has changed where it throws.
   */
  borrow(_priority) {
    throw new TypeError('not implemented')
  }

  /** Gives up a ticket. False where that is too late: lock.lent() will be called. */
  withdraw(_ticket) {
    throw new TypeError('not implemented')
  }

  /**
   * Another thread may have it. With `isAbandoned` the next grant is told of a death, since none of ours was. It
   * throws only where nothing has changed. The result is what hear() is to be called with, if with anything.
   */
  giveBack(_isAbandoned) {
    throw new TypeError('not implemented')
  }

  /** Calls back for what has come of giveBack(). */
  hear(_completions) {}

  /** The same for what has come of withdraw(). */
  catchUp() {}

  /** May the borrower hand the lock on to its own next waiter? Asked for each hand-off; cohort.js says how long. */
  mayKeep() {
    return true
  }

  /** Whether waiters are there, and the lock is not: another thread, and only another one, can end that. */
  keepAlive(_isWaiting) {}

  /** Does any thread have the lock? */
  isLent() {
    return this.lock.isHere()
  }

  /** Is it ours, though lock.lent() may still be on the way? */
  isOurs() {
    return this.lock.isHere()
  }

  /** Waiters in line, apart from the queue of the local lock. */
  queueSize() {
    return 0
  }

  /** Why it lends no more: an error, or undefined while it does. Then it calls lock.endAll(). */
  refusal() {
    return undefined
  }

  /** What snapshots tell. */
  look() {
    return { locked: this.isLent(), waiting: this.queueSize() + this.lock.queueSize() }
  }

  /** For error messages. */
  title({ kind }) {
    return `the ${kind}`
  }
}

/** addToken(release, isGood) gives a releaser, whose grant is good while isGood(), a fencing token. Null: there is none. */
Lender.prototype.addToken = null

module.exports = { Lender, lent, lentAbandoned, refused }
