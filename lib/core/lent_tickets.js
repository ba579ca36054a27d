'use strict'
// The tickets by which a lent mutex (lent_mutex.js) borrows for its queue: one for the whole queue, or
// one for each waiter if waiters are strictly first come, first served (fairness: 'fifo').
const { lent, lentAbandoned } = require('./lender.js')
const { borrowing, UnqueuedForms } = require('./lent_forms.js')
const { free, nextGrant } = require('./mutex.js')
const { checkStack } = require('./stack.js')

const none = -1

class LentTickets extends UnqueuedForms {
  constructor(lender) {
    super(lender)
    /** The queue's ticket, and the priority of that ticket. */
    this.ticket = none
    this.priority = 0
    /** The ticket that borrowAnew() is about to give up. */
    this.former = none
    /** One ticket per waiter, if waiters are strictly first come, first served. */
    this.tickets = null
  }

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
}

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

module.exports = { LentTickets, none }
