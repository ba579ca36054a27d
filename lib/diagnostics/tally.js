'use strict'
// The totals of a lock, or of all keys of a keyed lock, in one thread.
const { Histogram } = require('./histogram.js')
const { agent } = require('../process/waiters.js')

let last = 0

class Tally {
  totals = {
    acquisitions: 0,
    contended: 0,
    timeouts: 0,
    aborts: 0,
    abandoned: 0,
    deadlocks: 0,
  }
  waits = new Histogram()
  /** The times of the holds that have ended. */
  holds = new Histogram()
  /** An id that is unique in the process. */
  id = `${agent}.${++last}`
}

/**
 * Returns the part of `tally` for the report of a lock or keyed lock: a copy, which stays as it is until all threads
 * have answered.
 */
const tallied = ({ totals, waits, holds }) => ({
  totals: { ...totals },
  waits: copyOf(waits),
  holds: copyOf(holds),
})

const copyOf = ({ buckets, max }) => ({ buckets: buckets.slice(), max })

const addTotals = (one, other) =>
  Object.fromEntries(Object.entries(one).map(([name, some]) => [name, some + other[name]]))

function addTimes(one, other) {
  const buckets = one.buckets.map((some, i) => some + other.buckets[i])
  return { buckets, max: Math.max(one.max, other.max) }
}

module.exports = { addTimes, addTotals, tallied, Tally }
