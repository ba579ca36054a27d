'use strict'
// The semaphore of scope host.
const native = require('../addon/load.js')
const { SemaphoreCore } = require('../process/semaphore_core.js')
const { inSegment } = require('./in_segment.js')

class HostSemaphoreCore extends inSegment(SemaphoreCore) {
  getValue() {
    return native.hostSemaphore.value(this.place)
  }
}
HostSemaphoreCore.prototype.kind = { name: 'semaphore', native: native.hostSemaphore }

module.exports = { HostSemaphoreCore }
