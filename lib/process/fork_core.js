'use strict'
// A fork of dining philosophers that threads share.
const { MutexCore } = require('./mutex_core.js')
const native = require('../load.js')

class ForkCore extends MutexCore {
  constructor(titleOf) {
    super()
    this.titleOf = titleOf
  }

  title() {
    return this.titleOf(this)
  }
}
ForkCore.prototype.kind = {
  name: 'table of dining philosophers',
  number: 0,
  bytes: 4,
  native: native.mutex,
}

module.exports = { ForkCore }
