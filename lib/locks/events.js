'use strict'
const { checkType } = require('../core/errors.js')
const { LocalAutoResetEvent, LocalManualResetEvent } = require('../core/gates.js')
const { Gate, gate } = require('./gate.js')
const { lockOptions } = require('../options/lock_options.js')
const { asOptions } = require('../core/options.js')
const { lockOf } = require('./base.js')

const eventOptions = new Set([...lockOptions, 'isSet'])

const event = { class: 'Event', base: gate, instance: 'an event' }

class Event extends Gate {
  constructor(kind, options) {
    const { isSet = false } = asOptions(options)
    checkType('isSet', isSet, 'boolean')
    super(kind, [isSet], options)
  }

  tryWait() {
    return lockOf(this, event, 'tryWait').tryWait()
  }

  isSet() {
    return lockOf(this, event, 'isSet').isSet()
  }
}

const traits = { base: event, isGate: true, bytes: 8, known: eventOptions }
const autoReset = {
  ...traits,
  class: 'AutoResetEvent',
  name: 'auto-reset event',
  local: (isSet) => new LocalAutoResetEvent(isSet),
}
const manualReset = {
  ...traits,
  class: 'ManualResetEvent',
  name: 'manual-reset event',
  local: (isSet) => new LocalManualResetEvent(isSet),
}

class AutoResetEvent extends Event {
  constructor(options = {}) {
    super(autoReset, options)
  }

  signal() {
    lockOf(this, autoReset, 'signal').signal()
  }
}

class ManualResetEvent extends Event {
  constructor(options = {}) {
    super(manualReset, options)
  }

  set() {
    lockOf(this, manualReset, 'set').set()
  }

  reset() {
    lockOf(this, manualReset, 'reset').reset()
  }
}

module.exports = { AutoResetEvent, ManualResetEvent }
