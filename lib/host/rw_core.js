'use strict'
// The read-write lock of scope host.
const native = require('../addon/load.js')
const { RWCore } = require('../process/rw_core.js')
const { inSegment } = require('./in_segment.js')

class HostRWCore extends inSegment(RWCore) {
  /** The readers of this process, plus one for each other process that reads. */
  readers() {
    return native.hostRWLock.readers(this.place)
  }

  tryNow(ask, releaser) {
    this.checkThere()
    return super.tryNow(ask, releaser)
  }

  upgrade(grant, limits) {
    if (this.segment.whyGone === undefined) return super.upgrade(grant, limits)
    return Promise.reject(this.goneError())
  }

  tryUpgrade(grant) {
    this.checkThere()
    return super.tryUpgrade(grant)
  }

  isWritten() {
    return native.hostRWLock.isWritten(this.place) === 1
  }
}
HostRWCore.prototype.kind = { name: 'read-write lock', native: native.hostRWLock }

module.exports = { HostRWCore }
