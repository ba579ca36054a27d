'use strict'
// The read-write lock of scope host.
const native = require('../addon/load.js')
const { SharedRWLock } = require('../process/rw_lock.js')
const { inSegment } = require('./in_segment.js')

class HostRWLock extends inSegment(SharedRWLock) {
  /** The readers of this process, plus one for each other process that reads. */
  readers() {
    return native.hostRWLock.readers(this.wordIndex)
  }

  isWritten() {
    return native.hostRWLock.isWritten(this.wordIndex) === 1
  }
}
HostRWLock.prototype.kind = { name: 'read-write lock', native: native.hostRWLock }

module.exports = { HostRWLock }
