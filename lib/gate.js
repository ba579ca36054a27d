'use strict'
// What events, latches and barriers have in common: one waits there until one may go on.
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { readSyncWait } = require('./options.js')

/** The core of a gate: for the classes derived from it, and nobody else. */
let coreOf

class Gate {
  #core
  #mayBlock

  static {
    coreOf = (gate) => gate.#core
  }

  constructor(core, options) {
    const read = readLockOptions(options, core.constructor.bytes)
    this.#core = core
    settle(core, read)
    this.#mayBlock = read.mayBlock
  }

  wait(options) {
    return this.#core.wait(options)
  }

  waitSync(options) {
    checkMayBlock(this.#mayBlock, 'waitSync')
    return this.#core.waitSync(readSyncWait(options))
  }

  get buffer() {
    return this.#core.shareOut().buffer
  }

  get byteOffset() {
    return this.#core.shareOut().byteOffset
  }
}

module.exports = { coreOf, Gate }
