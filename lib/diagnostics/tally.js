'use strict'
// The totals of a lock, or of all keys of a keyed lock, in one thread.
const { Histogram, readTimes } = require('./histogram.js')
const { agent } = require('../process/waiters.js')

const zero = () => ({
  acquisitions: 0,
  contended: 0,
  timeouts: 0,
  aborts: 0,
  abandoned: 0,
  deadlocks: 0,
})

let last = 0

class Tally {
  totals = zero()
  waits = new Histogram()
  /** The times of the holds that have ended. */
  holds = new Histogram()
  /** An id that is unique in the process. */
  id = `${agent}.${++last}`

  waited() {
    return readTimes(this.waits.buckets, this.waits.max)
  }
}

/** Returns the numbers in a form that can be added to those of other threads. */
const rawTimes = ({ buckets, max }) => ({ buckets, max })

/** Returns the part of `tally` for the report of a lock or keyed lock. */
const tallied = ({ totals, waits, holds }) => ({
  totals: { ...totals },
  waits: rawTimes(waits),
  holds: rawTimes(holds),
})

/** Returns the sum of the tallies of two threads. */
function addTotals(one, other) {
  const sum = zero()
  for (const name of Object.keys(sum)) sum[name] = one[name] + other[name]
  return sum
}

function addRawTimes(one, other) {
  const buckets = one.buckets.map((some, i) => some + other.buckets[i])
  return { buckets, max: Math.max(one.max, other.max) }
}

module.exports = { addRawTimes, addTotals, tallied, Tally }
