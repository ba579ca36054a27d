'use strict'
// The interface of every lender: a lock of a wider scope borrows from it (docs/decisions/lenders.md).
//
// A lender lends one lock to one thread at a time. The local lock (lent_mutex.js) calls the lender; the lender delivers a
// loan by `lock.lent(ticket, isAbandoned)`. Locks over an engine have leases instead (../cluster/lease.js).
//
//   tryBorrow, borrowNow, or borrow and later lent()    the lock is here: each loan is given back once
//   giveBack                                            another thread may borrow it

// The answers other than a ticket, as in binding/outcome.h: test/package/structure.test.js compares them.
const lent = -1
/** The last borrower died while it held the lock: the next grant is `abandoned`. */
const lentAbandoned = -2
const notLent = -3

class Lender {
  /** The local lock that borrows. */
  lock = null

  /**
   * Borrows without waiting, by at most one compare-and-swap, and never after a death. Returns
   * whether it did.
   */
  tryBorrow() {
    return false
  }

  /** Borrows without waiting: lent, lentAbandoned or notLent. */
  borrowNow() {
    return this.tryBorrow() ? lent : notLent
  }

  /**
   * Borrows in turn among other threads: lent or lentAbandoned at once, or a ticket (0 or more),
   * for which the lender calls lock.lent() once. A call that throws has changed nothing.
   */
  borrow(_priority) {
    throw new TypeError('not implemented')
  }

  /** Gives up a ticket. Returns false when it is too late: lock.lent() will be called. */
  withdraw(_ticket) {
    throw new TypeError('not implemented')
  }

  /**
   * Lets other threads borrow the lock. `isAbandoned` reports a death to the next grant, because no
   * grant of this thread did. A call that throws has changed nothing. The result, unless undefined,
   * is the argument for deliver().
   */
  giveBack(_isAbandoned) {
    throw new TypeError('not implemented')
  }

  /**
   * Blocks until lock.lent() has been called for `ticket`, where withdraw() came too late. It waits for threads of this
   * process only: another process may have been stopped.
   */
  awaitLoan(_ticket) {}

  /** Delivers the completions that giveBack() returned. */
  deliver(_completions) {}

  /** Delivers the completions of withdraw(). */
  catchUp() {}

  /**
   * Whether the borrower may hand the lock to its own next waiter. Called for each hand-off;
   * cohort.js has the rule.
   */
  mayKeep() {
    return true
  }

  /**
   * `isWaiting`: there are waiters and the lock is elsewhere. Only another thread can end that, so
   * it keeps the event loop alive.
   */
  keepAlive(_isWaiting) {}

  /** Whether any thread has the lock. */
  isLent() {
    return this.lock.isHere()
  }

  /** Whether this thread has the lock, even if lock.lent() is still to come. */
  isOurs() {
    return this.lock.isHere()
  }

  /** The number of queued waiters, without the queue of the local lock. */
  queueSize() {
    return 0
  }

  /** The error of a lender that lends no more, or undefined. Such a lender calls lock.endAll(). */
  refusal() {
    return undefined
  }

  /** Returns what snapshots show. */
  look() {
    return { locked: this.isLent(), waiting: this.queueSize() + this.lock.queueSize() }
  }

  /** Names the lock in error messages. */
  title({ kind }) {
    return `the ${kind}`
  }
}

/**
 * addToken(release, isGood) adds a fencing token to a releaser, whose grant is valid while
 * isGood(). Null: the scope has none.
 */
Lender.prototype.addToken = null

/** The scope of the locks that it lends. */
Lender.prototype.scope = 'process'

/** Whether the lock was lent after a death of which no grant was told: it must be given back, as abandoned. */
Lender.prototype.isDeathUndelivered = false

module.exports = { Lender, lent, lentAbandoned, notLent }
