'use strict'
// Semaphores of wider scopes run callbacks with the ticket [valueBefore, releaser] that acquireUnits(asked) resolves
// to.
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
}

module.exports = { ticketRuns }
