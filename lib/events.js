'use strict'
const { AutoResetCore, ManualResetCore } = require('./event_core.js')
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
  shared: (isSet) => new AutoResetCore(isSet),
}
const manualReset = {
  name: 'manual-reset event',
  bytes: 8,
  known: eventOptions,
  shared: (isSet) => new ManualResetCore(isSet),
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
