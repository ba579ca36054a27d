'use strict'
// The base of events, latches and barriers: callers wait until the gate admits them.
const { checkKnown, isObject, readSyncWait, refuseNumber } = require('../core/options.js')
const { blockingLockOf, kindOf, lockOf } = require('./base.js')
const { Single, single } = require('./single.js')

const gate = { class: 'Gate', base: single, instance: 'an event, a countdown latch or a barrier' }

const known = new Set(['timeout', 'signal'])

/** Checks the options of a wait that has no priority. */
function checkUnranked(options) {
  refuseNumber(options, false)
  if (isObject(options)) checkKnown(options, known)
}

class Gate extends Single {
  wait(options) {
    const lock = lockOf(this, gate, 'wait')
    if (kindOf(this).isUnranked) checkUnranked(options)
    return lock.wait(options)
  }

  waitSync(options) {
    const lock = blockingLockOf(this, gate, 'waitSync')
    if (kindOf(this).isUnranked) checkUnranked(options)
    return lock.waitSync(readSyncWait(options))
  }
}

module.exports = { checkUnranked, Gate, gate }
