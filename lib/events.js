'use strict'
const { AutoResetCore, ManualResetCore } = require('./event_core.js')
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { readSyncWait } = require('./options.js')

/** The core of an event: for the classes derived from it, and nobody else. */
let coreOf

class Event {
  #core
  #mayBlock

  static {
    coreOf = (event) => event.#core
  }

  constructor(Core, options) {
    const read = readLockOptions(options, Core.bytes)
    const { isSet = false } = options
    if (typeof isSet !== 'boolean') throw new TypeError('isSet must be a boolean')
    this.#core = new Core(isSet)
    settle(this.#core, read)
    this.#mayBlock = read.mayBlock
  }

  wait(options) {
    return this.#core.wait(options)
  }

  waitSync(options) {
    checkMayBlock(this.#mayBlock, 'waitSync')
    this.#core.waitSync(readSyncWait(options))
  }

  tryWait() {
    return this.#core.tryWait()
  }

  isSet() {
    return this.#core.isSet()
  }

  get buffer() {
    return this.#core.shareOut().buffer
  }

  get byteOffset() {
    return this.#core.shareOut().byteOffset
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
