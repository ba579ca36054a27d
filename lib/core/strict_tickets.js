'use strict'
// The tickets of the waiters of a lent mutex that are strictly first come, first served (fairness: 'fifo'): each has one
// of its own.

class StrictTickets {
  #tickets = new Map()

  put(waiter, ticket) {
    this.#tickets.set(waiter, ticket)
  }

  /** `waiter` has left the queue: its ticket, if it had one still. */
  take(waiter) {
    const ticket = this.#tickets.get(waiter)
    this.#tickets.delete(waiter)
    return ticket
  }

  /** `head`, or null, goes by `ticket`; the waiter that had it, if another one, has the head's from now on. */
  spend(ticket, head) {
    const own = this.#tickets.get(head)
    if (own !== ticket) {
      const [owner] = [...this.#tickets].find((one) => one[1] === ticket) ?? []
      // It has left, too late. That of the head is given up when the head leaves the queue.
      if (owner === undefined) return
      this.#tickets.set(owner, own)
    }
    this.#tickets.delete(head)
  }
}

module.exports = { StrictTickets }
