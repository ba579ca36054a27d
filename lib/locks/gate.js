'use strict'
// The base of events, latches and barriers: a caller waits there until it may go on.
const { readSyncWait } = require('../core/options.js')
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

module.exports = { Gate, gate }
