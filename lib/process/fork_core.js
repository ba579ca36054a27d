'use strict'
// A fork of dining philosophers that threads share.
const { kindOf } = require('./core.js')
const { MutexCore } = require('./mutex_core.js')

class ForkCore extends MutexCore {
  constructor(titleOf) {
    super()
    this.titleOf = titleOf
  }

  title() {
    return this.titleOf(this)
  }
}
ForkCore.prototype.kind = kindOf('table of dining philosophers', 0, 'mutex', MutexCore.bytes)

module.exports = { ForkCore }
