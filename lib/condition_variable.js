'use strict'
const { ConditionCore } = require('./condition_core.js')
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { coreOf } = require('./mutex.js')
const { readSyncWait } = require('./options.js')

class ConditionVariable {
  #core = new ConditionCore()
  #mayBlock

  constructor(options = {}) {
    const read = readLockOptions(options, ConditionCore.bytes)
    settle(this.#core, read)
    this.#mayBlock = read.mayBlock
  }

  wait(mutex, options) {
    return this.#core.wait(coreOf(mutex), options)
  }

  waitSync(mutex, options) {
    checkMayBlock(this.#mayBlock, 'waitSync')
    this.#core.waitSync(coreOf(mutex), readSyncWait(options))
  }

  notifyOne() {
    this.#core.notify(false)
  }

  notifyAll() {
    this.#core.notify(true)
  }

  get buffer() {
    return this.#core.shareOut().buffer
  }

  get byteOffset() {
    return this.#core.shareOut().byteOffset
  }
}

module.exports = { ConditionVariable }
