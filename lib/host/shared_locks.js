'use strict'
// The semaphore and the read-write lock of scope host: several processes hold them at once.
const native = require('../addon/load.js')
const { SharedRWLock } = require('../process/rw_lock.js')
const { SharedSemaphore } = require('../process/semaphore.js')
const { inSegment } = require('./in_segment.js')

class HostSemaphore extends inSegment(SharedSemaphore, native.hostSemaphore) {
  getValue() {
    return native.hostSemaphore.value(this.wordIndex)
  }
}

class HostRWLock extends inSegment(SharedRWLock, native.hostRWLock) {
  /** The readers of this process, plus one for each other process that reads. */
  readers() {
    return native.hostRWLock.readers(this.wordIndex)
  }

  isWritten() {
    return native.hostRWLock.isWritten(this.wordIndex) === 1
  }
}

module.exports = { HostRWLock, HostSemaphore }
