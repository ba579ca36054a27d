'use strict'
// Waiters of waitForUnlock: a passer releases the lock in the turn in which it is granted.
const { setTraits } = require('../core/waiter.js')
const { Waiter } = require('./waiters.js')

/** The passers that have been granted a lock in this turn. */
let passing = []

/**
 * Passers release one after the other, in a loop: a release may admit the next passer, and a long
 * queue of them must not recurse.
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

/** C++ tells it of no death: the next holder that keeps its units is told. */
class Passer extends Waiter {
  static value(lock, weight) {
    pass(lock, weight)
  }

  count(change) {
    super.count(change)
    this.lock.shared.passing += change
  }
}
setTraits(Passer, { isToStay: true, isPassing: true })

module.exports = { Passer }
