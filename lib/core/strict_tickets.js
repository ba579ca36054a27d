'use strict'
// The tickets of a lent mutex whose waiters are strictly first come, first served (fairness:
// 'fifo'): one per waiter.

class StrictTickets {
  #tickets = new Map()

  put(waiter, ticket) {
    this.#tickets.set(waiter, ticket)
  }

  /** `waiter` has left the queue. Returns its ticket, if it still has one. */
  take(waiter) {
    const ticket = this.#tickets.get(waiter)
    this.#tickets.delete(waiter)
    return ticket
  }

  /**
   * The loan for `ticket` goes to `head`, or to no waiter if that is null. If the ticket was
   * another waiter's, that waiter gets the head's ticket.
   */
  spend(ticket, head) {
    const own = this.#tickets.get(head)
    if (own !== ticket) {
      const [owner] = [...this.#tickets].find((one) => one[1] === ticket) ?? []
      // Its waiter has left too late to withdraw the ticket. The head's own ticket is given up when
      // it leaves the queue.
      if (owner === undefined) return
      this.#tickets.set(owner, own)
    }
    this.#tickets.delete(head)
  }
}

module.exports = { StrictTickets }
