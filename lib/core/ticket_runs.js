'use strict'
// Semaphores of wider scopes: their callbacks run with a ticket, [valueBefore, releaser], to which acquireUnits(asked)
// resolves.
const { checkCallback } = require('./options.js')
const { LocalSemaphore } = require('./semaphore.js')
const { readAcquire, runWithTicket } = require('./units.js')

const { runExclusiveSync } = LocalSemaphore.prototype

const ticketRuns = {
  acquire(weight, options) {
    return this.acquireUnits(readAcquire(weight, options))
  },

  async runExclusive(callback, weight, options) {
    checkCallback(callback, undefined, typeof weight === 'function' ? weight : options)
    return runWithTicket(this, readAcquire(weight, options), callback)
  },

  runExclusiveSync,

  call(asked, fn, receiver, args) {
    return runWithTicket(this, asked, () => fn.apply(receiver, args))
  },
}

module.exports = { ticketRuns }
