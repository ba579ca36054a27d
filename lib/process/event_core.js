'use strict'
// Events for promises: one lets a single waiter through for each signal, the other lets every waiter through
// while it is set. See src/locks/auto_reset_event.h and src/locks/manual_reset_event.h.
const { checkStackToRelease } = require('../core/stack.js')
const { GateCore } = require('./gate_core.js')
const native = require('../load.js')

const clear = 0
const set = 2

class EventCore extends GateCore {
  constructor(isSet) {
    super(isSet ? set : clear)
  }

  isSet() {
    return (this.read() & set) !== 0
  }
}
EventCore.prototype.late = 'was not set'

class AutoResetCore extends EventCore {
  signal() {
    checkStackToRelease()
    this.dispatch(native.autoResetEvent.signal(this.place))
  }
}
AutoResetCore.prototype.kind = {
  name: 'auto-reset event',
  number: 2,
  bytes: 8,
  native: native.autoResetEvent,
}

class ManualResetCore extends EventCore {
  set() {
    checkStackToRelease()
    this.dispatch(native.manualResetEvent.set(this.place))
  }

  reset() {
    native.manualResetEvent.reset(this.place)
  }
}
ManualResetCore.prototype.kind = {
  name: 'manual-reset event',
  number: 3,
  bytes: 8,
  native: native.manualResetEvent,
}

module.exports = { AutoResetCore, ManualResetCore }
