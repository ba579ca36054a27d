'use strict'
// Passers, the waiters of waitForUnlock(): each releases the lock in the turn of the event loop in which it is granted.
const { setTraits } = require('../core/waiter.js')
const { Waiter } = require('./waiters.js')

/** The passers that have been granted a lock in this turn. */
let passing = []

/**
 * Releases for a passer. A release may admit the next passer, so a loop releases them one after the other: a long queue
 * of passers must not recurse.
 */
function pass(lock, weight) {
  const isFirst = passing.length === 0
  passing.push({ lock, weight })
  if (!isFirst) return
  try {
    for (const one of passing) one.lock.passNow(one.weight)
  } finally {
    passing = []
  }
}

/** C++ reports no death to a passer, but to the next holder that keeps the lock. */
class Passer extends Waiter {
  static value(lock, weight) {
    pass(lock, weight)
  }

  count(change) {
    super.count(change)
    this.lock.shared.passing += change
  }
}
setTraits(Passer, { mode: undefined, isToStay: true, isPassing: true })

module.exports = { Passer }
