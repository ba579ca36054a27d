'use strict'
// The tickets of this thread. A queue of C++ knows a waiter by its ticket, a small integer, and reports what has happened
// to it by that number (a completion, see binding/completions.h).
//
// Behind each ticket is an object with a `lock` that knows what a completion means for it: began(),
// admit(waiter, isAbandoned), resume(ticket) for an invitation, and answered() after it. A waiter has end(), too, which is
// called when its wait is over.
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

  /** Returns the waiter, whose ticket C++ has back already. */
  take(ticket) {
    const waiter = this.#waiters[ticket]
    this.#waiters[ticket] = undefined
    return waiter
  }

  /** The waiter of `ticket` has left its queue, for C++'s answer `left`. */
  leave(ticket, left) {
    this.#waiters[ticket] = left === leaves.leftAwake ? gone : undefined
  }

  /** All waiters, with their tickets. */
  *[Symbol.iterator]() {
    for (const [ticket, waiter] of this.#waiters.entries()) {
      if (waiter !== undefined) yield [ticket, waiter]
    }
  }
}

const tickets = new Tickets()

/** Stands for a waiter that left while its invitation was on its way, and gives the ticket back when that comes. */
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
