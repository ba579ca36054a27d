'use strict'
// The tickets of this thread. A ticket is a small integer by which a queue in C++ knows a waiter. C++ reports what
// happens to a waiter as a completion, which has the ticket (binding/completions.h).
//
// Each ticket has an object here, its waiter, with a `lock` that handles completions: began() and admit(waiter,
// isAbandoned) when the waiter is admitted, resume(ticket) for an invitation, answered() after that. The waiter itself
// has end(), which ends its wait.
const native = require('../addon/load.js')

const { leaves, outcomes } = native.layout

class Tickets {
  #waiters = []

  at(ticket) {
    return this.#waiters[ticket]
  }

  keep(ticket, waiter) {
    this.#waiters[ticket] = waiter
  }

  /** Removes and returns the waiter of `ticket`. C++ may reuse the ticket. */
  take(ticket) {
    const waiter = this.#waiters[ticket]
    this.#waiters[ticket] = undefined
    return waiter
  }

  /** Removes the waiter of `ticket`, which has left its queue. `left` is what C++ answered. */
  leave(ticket, left) {
    this.#waiters[ticket] = left === leaves.leftAwake ? gone : undefined
  }

  *[Symbol.iterator]() {
    for (const [ticket, waiter] of this.#waiters.entries()) {
      if (waiter !== undefined) yield [ticket, waiter]
    }
  }
}

const tickets = new Tickets()

/** Stands in for a waiter that left while its invitation was on the way. Gives the ticket back when that arrives. */
const gone = {
  lock: {
    resume(ticket) {
      tickets.take(ticket)
      native.eventLoop.giveTicket(ticket)
      return outcomes.notGranted
    },
    answered() {},
  },
}

module.exports = { tickets }
