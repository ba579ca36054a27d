'use strict'
// A recursive mutex that other threads may know.
const { kindOf } = require('./core.js')
const { MutexCore } = require('./mutex_core.js')
const { recursive } = require('../core/recursive.js')

class RecursiveCore extends recursive(MutexCore) {
  settleIn(title, findShare) {
    super.settleIn(title, findShare)
    this.share.holds ??= this.holds
    this.holds = this.share.holds
  }
}

RecursiveCore.prototype.kind = kindOf('recursive mutex', 0, 'mutex', MutexCore.bytes)

module.exports = { RecursiveCore }
