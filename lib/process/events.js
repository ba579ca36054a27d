'use strict'
// Events that threads share: an auto-reset event admits one waiter for each signal, a manual-reset event admits every
// waiter while it is set. See src/locks/auto_reset_event.h and src/locks/manual_reset_event.h.
const { checkStackToRelease } = require('../core/stack.js')
const { SharedGate } = require('./gate.js')
const native = require('../addon/load.js')

const clear = 0
const { set } = native.layout.event

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
SharedAutoResetEvent.prototype.kind = {
  name: 'auto-reset event',
  number: native.layout.lockKinds.autoResetEvent,
  bytes: 8,
  native: native.autoResetEvent,
}

class SharedManualResetEvent extends SharedEvent {
  set() {
    checkStackToRelease()
    this.dispatch(this.kind.native.set(this.wordIndex))
  }

  reset() {
    this.kind.native.reset(this.wordIndex)
  }
}
SharedManualResetEvent.prototype.kind = {
  name: 'manual-reset event',
  number: native.layout.lockKinds.manualResetEvent,
  bytes: 8,
  native: native.manualResetEvent,
}

module.exports = { SharedAutoResetEvent, SharedManualResetEvent }
