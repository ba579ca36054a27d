'use strict'
// Waiters of waitForUnlock: a passer releases the lock in the turn in which it is granted.
const { Waiter } = require('./waiters.js')

/** The passers that have been granted a lock in this turn. */
let passing = []

/**
 * Passers release one after the other, in a loop: a release may admit the next passer, and a long
 * queue of them must not recurse.
 */
function pass(lock, weight, abandoned) {
  const isFirst = passing.length === 0
  passing.push({ lock, weight, abandoned })
  if (!isFirst) return
  try {
    for (const one of passing) one.lock.passNow(one.weight, one.abandoned)
  } finally {
    passing = []
  }
}

class Passer extends Waiter {
  static value(lock, weight, abandoned) {
    pass(lock, weight, abandoned)
  }

  count(change) {
    super.count(change)
    this.lock.share.passing += change
  }
}
Passer.prototype.isToStay = true

module.exports = { Passer }
