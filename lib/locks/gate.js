'use strict'
// What events, latches and barriers have in common: one waits there until one may go on.
const { readSyncWait } = require('../core/options.js')
const { blockingCoreOf, coreOf, Single, single } = require('./single.js')

/** What all of them are. */
const gate = { class: 'Gate', base: single, instance: 'an event, a countdown latch or a barrier' }

class Gate extends Single {
  wait(options) {
    return coreOf(this, gate, 'wait').wait(options)
  }

  waitSync(options) {
    return blockingCoreOf(this, gate, 'waitSync').waitSync(readSyncWait(options))
  }
}

module.exports = { Gate, gate }
