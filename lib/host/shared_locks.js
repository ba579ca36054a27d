'use strict'
// The semaphore and the read-write lock of scope host: several processes hold them at once.
const native = require('../addon/load.js')
const { SharedRWLock } = require('../process/rw_lock.js')
const { SharedSemaphore } = require('../process/semaphore.js')
const { inSegment } = require('./in_segment.js')

class HostSemaphore extends inSegment(SharedSemaphore) {
  getValue() {
    return native.hostSemaphore.value(this.wordIndex)
  }
}
HostSemaphore.prototype.kind = { name: 'semaphore', native: native.hostSemaphore }

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

module.exports = { HostRWLock, HostSemaphore }
