'use strict'
// The methods that semaphores of all wider scopes share. A callback gets the ticket [valueBefore, releaser] that
// acquireUnits(asked) resolves to.
const { LocalSemaphore } = require('./semaphore.js')
const { run } = require('./run.js')
const { readAcquire } = require('./units.js')

const { runExclusive, runExclusiveSync, snapshot } = LocalSemaphore.prototype

const ticketRuns = {
  acquire(weight, options) {
    return this.acquireUnits(readAcquire(weight, options))
  },

  runExclusive,
  runExclusiveSync,
  snapshot,

  runWithUnits(asked, callback) {
    return run(callback, () => this.acquireUnits(asked))
  },
}

module.exports = { ticketRuns }
