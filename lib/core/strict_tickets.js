'use strict'
// The tickets of a lent mutex whose waiters are strictly first come, first served (fairness:
// 'fifo'): one per waiter.

class StrictTickets {
  #tickets = new Map()
  /** The waiters by their tickets. */
  #waiters = new Map()

  put(waiter, ticket) {
    this.#tickets.set(waiter, ticket)
    this.#waiters.set(ticket, waiter)
  }

  /** `waiter` has left the queue. Returns its ticket, if it still has one. */
  take(waiter) {
    const ticket = this.#tickets.get(waiter)
    this.#tickets.delete(waiter)
    this.#waiters.delete(ticket)
    return ticket
  }

  /**
   * The loan for `ticket` goes to `head`, or to no waiter if that is null. If the ticket was
   * another waiter's, that waiter gets the head's ticket.
   */
  spend(ticket, head) {
    const owner = this.#waiters.get(ticket)
    // Its waiter has left too late to withdraw the ticket. The head's own ticket is given up when
    // it leaves the queue.
    if (owner === undefined) return
    const own = this.take(head)
    if (owner === head) return
    this.#waiters.delete(ticket)
    if (own !== undefined) this.put(owner, own)
    else this.#tickets.delete(owner)
  }
}

module.exports = { StrictTickets }
