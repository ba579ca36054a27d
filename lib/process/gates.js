'use strict'
// Events and latches that threads share: an auto-reset event admits one waiter for each signal, a manual-reset event
// admits every waiter while it is set, a latch opens when its count reaches zero. See src/locks/auto_reset_event.h,
// src/locks/manual_reset_event.h and src/locks/countdown_latch.h.
const native = require('../addon/load.js')
const { tooManyError } = require('../core/gates.js')
const { readWait } = require('../core/options.js')
const { checkStackToRelease } = require('../core/stack.js')
const { kindOf, SharedLock } = require('./shared_lock.js')
const { isGranted, Waiter } = require('./waiters.js')

const clear = 0
const { set } = native.layout.event
const { countShift } = native.layout.countdownLatch

class SharedGate extends SharedLock {
  tryWait() {
    return isGranted(this.tryEnter(1))
  }

  wait(options) {
    return this.enterQueue(1, readWait(options), Waiter)
  }

  waitSync(limits) {
    if (!this.tryWait()) this.enterSync(1, limits)
  }
}

class SharedEvent extends SharedGate {
  constructor(isSet) {
    super(isSet ? set : clear)
  }

  isSet() {
    return (this.read() & set) !== 0
  }
}
SharedEvent.prototype.late = 'was not set'
SharedEvent.prototype.argument = { name: 'isSet', of: (word) => word === set }

class SharedAutoResetEvent extends SharedEvent {
  signal() {
    checkStackToRelease()
    this.dispatch(this.kind.native.signal(this.wordIndex))
  }
}
SharedAutoResetEvent.prototype.kind = kindOf('auto-reset event', 'autoResetEvent')

class SharedManualResetEvent extends SharedEvent {
  set() {
    checkStackToRelease()
    this.dispatch(this.kind.native.set(this.wordIndex))
  }

  reset() {
    this.kind.native.reset(this.wordIndex)
  }
}
SharedManualResetEvent.prototype.kind = kindOf('manual-reset event', 'manualResetEvent')

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
SharedLatch.prototype.kind = kindOf('countdown latch', 'countdownLatch')

module.exports = { SharedAutoResetEvent, SharedLatch, SharedManualResetEvent }
