'use strict'
// The semaphore of scope host.
const native = require('../addon/load.js')
const { SharedSemaphore } = require('../process/semaphore.js')
const { inSegment } = require('./in_segment.js')

class HostSemaphore extends inSegment(SharedSemaphore) {
  getValue() {
    return native.hostSemaphore.value(this.wordIndex)
  }
}
HostSemaphore.prototype.kind = { name: 'semaphore', native: native.hostSemaphore }

module.exports = { HostSemaphore }
