'use strict'
// What has been, of a lock or of all keys of a keyed map, in one thread.
const { noWaits, readWaits } = require('./histogram.js')
const { agent } = require('../waiters.js')

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
  acquisitions = 0
  contended = 0
  timeouts = 0
  aborts = 0
  abandoned = 0
  deadlocks = 0
  /** Once anybody has waited. */
  waits = null
  /** Like no other one of the process. */
  id = `${agent}.${++last}`

  totals() {
    const totals = zero()
    for (const name of Object.keys(totals)) totals[name] = this[name]
    return totals
  }

  waited() {
    return this.waits === null ? noWaits() : readWaits(this.waits.buckets, this.waits.max)
  }
}

/** To be added to those of other threads. */
const rawWaits = ({ waits }) => (waits === null ? { buckets: [], max: 0 } : { ...waits })

/** Those of two threads together. */
function addTotals(one, other) {
  const sum = zero()
  for (const name of Object.keys(sum)) sum[name] = one[name] + other[name]
  return sum
}

function addRawWaits(one, other) {
  const longest = one.buckets.length > other.buckets.length ? one.buckets : other.buckets
  const add = (_, i) => (one.buckets[i] ?? 0) + (other.buckets[i] ?? 0)
  return { buckets: Array.from(longest, add), max: Math.max(one.max, other.max) }
}

module.exports = { addRawWaits, addTotals, rawWaits, Tally }
