'use strict'
// Events for promises: an auto-reset event admits one waiter for each signal, a manual-reset event
// admits every waiter while it is set. See src/locks/auto_reset_event.h and
// src/locks/manual_reset_event.h.
const { checkStackToRelease } = require('../core/stack.js')
const { GateCore } = require('./gate_core.js')
const native = require('../addon/load.js')

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
    this.dispatch(this.kind.native.signal(this.place))
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
    this.dispatch(this.kind.native.set(this.place))
  }

  reset() {
    this.kind.native.reset(this.place)
  }
}
ManualResetCore.prototype.kind = {
  name: 'manual-reset event',
  number: 3,
  bytes: 8,
  native: native.manualResetEvent,
}

module.exports = { AutoResetCore, ManualResetCore }
