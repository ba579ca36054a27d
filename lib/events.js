'use strict'
const { AutoResetCore, ManualResetCore } = require('./event_core.js')
const { Gate } = require('./gate.js')
const { lockOptions } = require('./lock_options.js')
const { asOptions } = require('./options.js')
const { coreOf } = require('./single.js')

const eventOptions = new Set([...lockOptions, 'isSet'])

class Event extends Gate {
  constructor(Core, options) {
    const { isSet = false } = asOptions(options)
    if (typeof isSet !== 'boolean') throw new TypeError('isSet must be a boolean')
    super(new Core(isSet), options, eventOptions)
  }

  tryWait() {
    return coreOf(this).tryWait()
  }

  isSet() {
    return coreOf(this).isSet()
  }
}

class AutoResetEvent extends Event {
  constructor(options = {}) {
    super(AutoResetCore, options)
  }

  signal() {
    coreOf(this).signal()
  }
}

class ManualResetEvent extends Event {
  constructor(options = {}) {
    super(ManualResetCore, options)
  }

  set() {
    coreOf(this).set()
  }

  reset() {
    coreOf(this).reset()
  }
}

module.exports = { AutoResetEvent, ManualResetEvent }
