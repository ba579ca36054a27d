'use strict'
// A latch that threads share: it opens when its count reaches zero. See src/locks/countdown_latch.h.
const { tooManyError } = require('../core/gates.js')
const { checkStackToRelease } = require('../core/stack.js')
const { SharedGate } = require('./gate.js')
const native = require('../addon/load.js')

const { countShift } = native.layout.countdownLatch

class SharedLatch extends SharedGate {
  constructor(count) {
    super(count << countShift)
  }

  count() {
    return this.read() >>> countShift
  }

  countDown(n) {
    checkStackToRelease()
    let completions
    try {
      completions = this.kind.native.countDown(this.wordIndex, n)
    } catch (error) {
      throw error.code === 'ERR_LOCK_RANGE' ? tooManyError(this, n) : error
    }
    this.dispatch(completions)
  }
}
SharedLatch.prototype.late = 'was not open'
SharedLatch.prototype.argument = { name: 'the count', of: (word) => word >>> countShift }
SharedLatch.prototype.kind = {
  name: 'countdown latch',
  number: native.layout.lockKinds.countdownLatch,
  bytes: 8,
  native: native.countdownLatch,
}

module.exports = { SharedLatch }
