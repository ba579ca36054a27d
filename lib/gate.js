'use strict'
// What events, latches and barriers have in common: one waits there until one may go on.
const { readSyncWait } = require('./options.js')
const { blockingCoreOf, coreOf, Single } = require('./single.js')

class Gate extends Single {
  wait(options) {
    return coreOf(this).wait(options)
  }

  waitSync(options) {
    return blockingCoreOf(this, 'waitSync').waitSync(readSyncWait(options))
  }
}

module.exports = { Gate }
