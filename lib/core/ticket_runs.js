'use strict'
// Semaphores of wider scopes: their callbacks run with a ticket, [valueBefore, releaser], to which acquireUnits(asked)
// resolves.
const { LocalSemaphore } = require('./semaphore.js')
const { run } = require('./run.js')
const { readAcquire } = require('./units.js')

const { runExclusive, runExclusiveSync } = LocalSemaphore.prototype

const ticketRuns = {
  acquire(weight, options) {
    return this.acquireUnits(readAcquire(weight, options))
  },

  runExclusive,
  runExclusiveSync,

  runWithUnits(asked, callback) {
    return run(callback, () => this.acquireUnits(asked))
  },

  callWithUnits(asked, fn, receiver, args) {
    return this.runWithUnits(asked, () => fn.apply(receiver, args))
  },
}

module.exports = { ticketRuns }
