'use strict'
// The base of events, latches and barriers: a caller waits there until it may go on.
const { checkKnown, readSyncWait, refuseLone } = require('../core/options.js')
const { isObject } = require('./receiver.js')
const { blockingLockOf, lockOf, Single, single } = require('./single.js')

/** The kind of all gates. */
const gate = { class: 'Gate', base: single, instance: 'an event, a countdown latch or a barrier' }

class Gate extends Single {
  wait(options) {
    return lockOf(this, gate, 'wait').wait(options)
  }

  waitSync(options) {
    return blockingLockOf(this, gate, 'waitSync').waitSync(readSyncWait(options))
  }
}

const unranked = new Set(['timeout', 'signal'])

/** Checks the options of a wait that has no priority. */
function checkUnranked(options) {
  refuseLone(options)
  if (isObject(options)) checkKnown(options, unranked)
}

/** The base of latches and barriers, which admit all waiters together. */
class RoundGate extends Gate {
  wait(options) {
    checkUnranked(options)
    return super.wait(options)
  }

  waitSync(options) {
    checkUnranked(options)
    return super.waitSync(options)
  }
}

module.exports = { checkUnranked, Gate, gate, RoundGate }
