'use strict'
const { LocalAutoResetEvent, LocalManualResetEvent } = require('./core/gates.js')
const { Gate } = require('./gate.js')
const { lockOptions } = require('./lock_options.js')
const { asOptions } = require('./options.js')
const { coreOf } = require('./single.js')

const eventOptions = new Set([...lockOptions, 'isSet'])

class Event extends Gate {
  constructor(kind, options) {
    const { isSet = false } = asOptions(options)
    if (typeof isSet !== 'boolean') throw new TypeError('isSet must be a boolean')
    super(kind, [isSet], options)
  }

  tryWait() {
    return coreOf(this).tryWait()
  }

  isSet() {
    return coreOf(this).isSet()
  }
}

const autoReset = {
  name: 'auto-reset event',
  bytes: 8,
  known: eventOptions,
  local: (isSet) => new LocalAutoResetEvent(isSet),
  shared: (isSet) => new (require('./event_core.js').AutoResetCore)(isSet),
}
const manualReset = {
  name: 'manual-reset event',
  bytes: 8,
  known: eventOptions,
  local: (isSet) => new LocalManualResetEvent(isSet),
  shared: (isSet) => new (require('./event_core.js').ManualResetCore)(isSet),
}

class AutoResetEvent extends Event {
  constructor(options = {}) {
    super(autoReset, options)
  }

  signal() {
    coreOf(this).signal()
  }
}

class ManualResetEvent extends Event {
  constructor(options = {}) {
    super(manualReset, options)
  }

  set() {
    coreOf(this).set()
  }

  reset() {
    coreOf(this).reset()
  }
}

module.exports = { AutoResetEvent, ManualResetEvent }
