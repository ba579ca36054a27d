'use strict'
// The interface of every lender: a lock of a wider scope borrows from it (docs/decisions/lenders.md).
//
// A lender lends one lock to one thread at a time. The local lock (lent_mutex.js) calls the lender; the lender delivers a
// loan by `lock.lent(ticket, isAbandoned)`. Locks over an engine have leases instead (../cluster/lease.js).
//
//   tryBorrow()            borrows without waiting, by at most one compare-and-swap. Returns whether it did. Never borrows
//                          after a death, which it could not report
//   borrowNow()            borrows without waiting. Returns lent, lentAbandoned or notLent
//   borrow(priority)       borrows in turn among other threads. Returns lent or lentAbandoned, or a ticket (0 or more), for
//                          which the lender calls lock.lent() once. A call that throws has changed nothing
//   withdraw(ticket)       gives up a ticket. Returns false if it is too late, and the lender is going to call lock.lent()
//   giveBack(isAbandoned)  lets other threads borrow the lock, once for each loan. With `isAbandoned` the next grant reports
//                          a death that no grant of this thread has reported. A call that throws has changed nothing
//   deliver(completions)   delivers the completions, for other waiters, that giveBack() returned, unless it was undefined
//   mayKeep()              returns whether the borrower may hand the lock to its own next waiter, by the rule of cohort.js.
//                          Called once for each hand-off
//   isLent()               whether any thread has the lock
//   isOurs()               whether this thread has the lock, even if the call of lock.lent() is still to come
//
// Lenders whose locks can block a thread also have borrowSync(limits), which returns as borrowNow() does.

// The answers other than a ticket, as in binding/outcome.h: test/package/structure.test.js compares them.
const lent = -1
/** The last borrower died while it held the lock: the next grant is `abandoned`. */
const lentAbandoned = -2
const notLent = -3

class Lender {
  /** The local lock that borrows. */
  lock = null

  /**
   * Blocks until the lender has called lock.lent() for `ticket`, for which withdraw() came too late. Waits only for
   * threads of this process, because another process may be suspended.
   */
  awaitLoan(_ticket) {}

  /** Delivers the completions of withdraw(). */
  catchUp() {}

  /**
   * Keeps the event loop alive while `isWaiting`: the lock has waiters here and is elsewhere, so that only another
   * thread can end the wait.
   */
  keepAlive(_isWaiting) {}

  /** The number of queued waiters, not counting the queue of the local lock. */
  queueSize() {
    return 0
  }

  /**
   * The error that borrowers get from a lender that no longer lends, or undefined. Such a lender has called
   * lock.endAll().
   */
  refusal() {
    return undefined
  }

  /** Returns what snapshots show. */
  look() {
    return { locked: this.isLent(), waiting: this.queueSize() + this.lock.queueSize() }
  }
}

/**
 * addToken(release, isGood) adds a fencing token to a releaser whose grant is valid while isGood() is true. Null in
 * scopes without tokens.
 */
Lender.prototype.addToken = null

/** The scope of the locks that the lender lends. */
Lender.prototype.scope = 'process'

/**
 * Whether the lock was lent after a death that no grant has reported yet: the borrower must give it back as abandoned.
 */
Lender.prototype.isDeathUndelivered = false

module.exports = { Lender, lent, lentAbandoned, notLent }
