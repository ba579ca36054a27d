'use strict'
// How a lent mutex (lent_mutex.js) borrows from its lender: for its queue, by one ticket for the whole queue, or by one
// for each waiter if waiters are strictly first come, first served (fairness: 'fifo'); and without the queue, for callers
// that take the lock now or not at all, or that block this thread, which then is a borrower of its own.
const { lockError } = require('./errors.js')
const { lent, lentAbandoned, notLent } = require('./lender.js')
const { free, LocalMutex, nextGrant } = require('./mutex.js')
const { observed } = require('./platform.js')
const { checkStack } = require('./stack.js')

const borrowing = -1
const none = -1

/** As checkStack(), for a caller whose release is that many calls deeper than this one, and cannot be repeated. */
function checkStackBelow(calls) {
  if (calls > 0) checkStackBelow(calls - 1)
  else checkStack()
}

class BorrowingMutex extends LocalMutex {
  constructor(lender) {
    super()
    this.lender = lender
    lender.lock = this
    /** The queue's ticket, and the priority of that ticket. */
    this.ticket = none
    this.priority = 0
    /** The ticket that borrowAnew() is about to give up. */
    this.former = none
    /** One ticket per waiter, if waiters are strictly first come, first served. */
    this.tickets = null
  }

  // For the queue.

  /** Called after the lock has been given back: the remaining waiters queue behind the waiters of other threads. */
  waitAgain() {
    if (this.ticket === none && this.tickets === null) this.borrowOrEnd()
    else this.waits()
  }

  /** Called by the lender: the loan for `ticket` has arrived. */
  lent(ticket, isAbandoned) {
    if (ticket === this.ticket) this.ticket = none
    else if (ticket === this.former) this.former = none
    else if (this.tickets !== null)
      this.tickets.spend(ticket, this.hasQueue() ? this.queue.head : null)
    this.arrives()
    if (!this.handOn(isAbandoned)) this.giveBack(isAbandoned)
  }

  /** Begins a new grant when the lock has arrived. */
  arrives() {
    if (this.current === borrowing) this.lender.keepAlive(false)
    this.current = nextGrant()
  }

  waits() {
    this.current = borrowing
    this.lender.keepAlive(true)
  }

  /** Called when the last waiter has left. */
  stopWaiting() {
    this.current = free
    this.lender.keepAlive(false)
    if (this.idleListener !== null) this.reportIdle()
  }

  /** Borrows for the whole queue, or for `waiter` if each waiter has a ticket. */
  borrow(priority, waiter) {
    this.borrowed(this.lender.borrow(priority), priority, waiter)
  }

  borrowed(answer, priority, waiter) {
    if (answer === lent || answer === lentAbandoned) this.lent(none, answer === lentAbandoned)
    else this.waitsWith(answer, priority, waiter)
  }

  waitsWith(ticket, priority, waiter) {
    if (waiter === undefined) {
      this.ticket = ticket
      this.priority = priority
    } else {
      this.tickets.put(waiter, ticket)
    }
    if (this.current === free) this.waits()
  }

  /**
   * Draws a ticket of the priority of the queue's new head. Draws it before giving up the old one, because a process
   * without a ticket loses its place among the others.
   */
  borrowAnew() {
    const { ticket, priority } = this
    this.former = ticket
    this.ticket = none
    this.borrowOrEnd()
    const isSpent = this.former === none
    this.former = none
    if (!isSpent && !this.lender.withdraw(ticket)) this.keep(ticket, priority)
    this.lender.catchUp()
  }

  /** Waits with the old `ticket` again, whose loan is already on its way. */
  keep(ticket, priority) {
    if (this.ticket !== none && !this.withdraw()) return
    this.ticket = ticket
    this.priority = priority
  }

  /** Borrows for the queue. Rejects every waiter if there is no memory for a ticket. */
  borrowOrEnd() {
    const { priority } = this.queue.head
    let answer
    try {
      answer = this.lender.borrow(priority)
    } catch (error) {
      this.endAll(error)
      return
    }
    this.borrowed(answer, priority)
  }

  /** Gives up the queue's ticket. Returns false if its loan is on the way. */
  withdraw() {
    if (!this.lender.withdraw(this.ticket)) return false
    this.ticket = none
    return true
  }

  /** From now on each waiter has a ticket of its own. */
  beStrict() {
    if (this.tickets !== null) return
    checkStack()
    this.tickets = new StrictTickets()
    this.lender.isStrict = true
    const [head, ...others] = this.waiters()
    if (head !== undefined && this.ticket !== none) {
      this.tickets.put(head, this.ticket)
      this.ticket = none
    } else if (head !== undefined) {
      this.borrow(head.priority, head)
    }
    for (const waiter of others) this.borrow(waiter.priority, waiter)
  }

  get isStrict() {
    return this.tickets !== null
  }

  // Without the queue.

  /** Does nothing: enter() has checked the stack before it drew a ticket. */
  checkWait() {}

  tryLock() {
    if (this.current !== free) return false
    this.checkObserver()
    const answer = this.lender.borrowNow()
    if (answer === notLent) return false
    this.current = nextGrant()
    if (this.observer !== null) this.begun(undefined, undefined, answer === lentAbandoned)
    return true
  }

  tryAcquire() {
    if (this.current !== free) return undefined
    checkStack()
    const answer = this.lender.borrowNow()
    if (answer === notLent) return undefined
    this.current = nextGrant()
    const isAbandoned = answer === lentAbandoned
    const release = this.releaser(this.current, isAbandoned)
    if (this.observer !== null) this.begun(release, undefined, isAbandoned)
    return release
  }

  /** Blocks this thread. Returns whether the last holder died while it held the lock. */
  lockSync(limits) {
    // The end of a recursive callback checks the stack for the observer, some calls deeper.
    if (this.observer !== null) checkStackBelow(8)
    // The queue is empty but a loan is still on its way, for a waiter that has left.
    if (this.current === borrowing && !this.hasQueue()) this.lender.awaitLoan(this.ticket)
    if (this.current === free && this.mayTake()) {
      this.current = nextGrant()
      if (this.observer !== null) this.observeUnblocked(limits)
      return false
    }
    this.checkNotOurs()
    const isAbandoned =
      this.observer === null
        ? this.block(limits)
        : observed.blocks(this.observer, this, 1, limits, () => this.block(limits))
    this.current = nextGrant()
    if (this.observer !== null) this.observeBlocked(isAbandoned)
    return isAbandoned
  }

  /** Throws if this thread would wait for itself. */
  checkNotOurs() {
    if (this.isHere() || this.lender.isOurs()) throw this.heldHere()
    if (this.current !== borrowing && !this.lender.isQueuedElsewhere()) return
    throw this.awaitedHere()
  }

  awaitedHere() {
    const ahead = `a promise of this thread waits for ${this.title()}: blocking here would deadlock. Wait with a promise`
    return lockError('ERR_LOCK_DEADLOCK', ahead)
  }

  block(limits) {
    // The observer's callback may have acquired the lock or queued for it.
    if (this.observer !== null) this.checkNotOurs()
    const answer = this.lender.borrowSync(limits)
    if (answer === notLent) throw this.timeoutError(limits.timeout)
    return answer === lentAbandoned
  }

  // For an observer, which reads from `admitted` how this thread blocked.

  isTaken() {
    return true
  }

  modeOf() {
    return 'exclusive'
  }

  /** Reports the wait to the observer, unless `waiter` has got the lock at once. */
  observeWait(waiter, promise) {
    if (this.queue.has(waiter)) super.observeWait(waiter, promise)
    else observed.gave(this.observer, undefined, promise)
  }

  observeUnblocked(limits) {
    this.begun()
    observed.blocked(this.observer, limits)
  }

  observeBlocked(isAbandoned) {
    const { admitted } = this
    this.admitted = null
    observed.granted(this.observer, 'exclusive', 1, admitted, isAbandoned)
  }

  acquireSync(limits) {
    checkStack()
    const isAbandoned = this.lockSync(limits)
    const release = this.releaser(this.current, isAbandoned)
    if (this.observer !== null) observed.gave(this.observer, release)
    return release
  }
}

BorrowingMutex.prototype.admitted = null

/** One ticket per waiter, for waiters that are strictly first come, first served. */
class StrictTickets {
  #tickets = new Map()
  #waiters = new Map()

  put(waiter, ticket) {
    this.#tickets.set(waiter, ticket)
    this.#waiters.set(ticket, waiter)
  }

  /** Forgets `waiter`, which has left the queue. Returns its ticket, if it still has one. */
  take(waiter) {
    const ticket = this.#tickets.get(waiter)
    this.#tickets.delete(waiter)
    this.#waiters.delete(ticket)
    return ticket
  }

  /**
   * Uses up `ticket`, whose loan goes to `head`, or to no waiter if that is null. If the ticket belonged to another
   * waiter, that waiter gets the ticket of `head`.
   */
  spend(ticket, head) {
    const owner = this.#waiters.get(ticket)
    // The waiter of this ticket left too late to withdraw it. `head` gives up its own ticket when it leaves the queue.
    if (owner === undefined) return
    const own = this.take(head)
    if (owner === head) return
    this.#waiters.delete(ticket)
    if (own !== undefined) this.put(owner, own)
    else this.#tickets.delete(owner)
  }
}

module.exports = { borrowing, BorrowingMutex, none }
