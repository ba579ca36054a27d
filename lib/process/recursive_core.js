'use strict'
// A recursive mutex that other threads may know.
const { MutexCore } = require('./mutex_core.js')
const { recursive } = require('../core/recursive.js')
const native = require('../load.js')

class RecursiveCore extends recursive(MutexCore) {
  settleIn(title, findShare) {
    super.settleIn(title, findShare)
    this.share.holds ??= this.holds
    this.holds = this.share.holds
  }
}

RecursiveCore.prototype.kind = {
  name: 'recursive mutex',
  number: 0,
  bytes: 4,
  native: native.mutex,
}

module.exports = { RecursiveCore }
