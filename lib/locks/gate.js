'use strict'
// The base of events, latches and barriers: callers wait until the gate admits them.
const { checkKnown, isObject, readSyncWait, refuseNumber } = require('../core/options.js')
const { blockingLockOf, lockOf } = require('./base.js')
const { Single, single } = require('./single.js')

/** The kind of all gates. */
const gate = { class: 'Gate', base: single, instance: 'an event, a countdown latch or a barrier' }

const known = new Set(['timeout', 'signal'])

/** Checks the options of a wait that has no priority. */
function checkUnranked(options) {
  refuseNumber(options, false)
  if (isObject(options)) checkKnown(options, known)
}

/** Marks a class that admits all waiters together, so that they have no priority. */
const unranked = Symbol('unranked')

class Gate extends Single {
  wait(options) {
    const lock = lockOf(this, gate, 'wait')
    if (this[unranked]) checkUnranked(options)
    return lock.wait(options)
  }

  waitSync(options) {
    const lock = blockingLockOf(this, gate, 'waitSync')
    if (this[unranked]) checkUnranked(options)
    return lock.waitSync(readSyncWait(options))
  }
}
Gate.prototype[unranked] = false

module.exports = { checkUnranked, Gate, gate, unranked }
