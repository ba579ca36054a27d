'use strict'
const { checkMayBlock, checkOptions, mayBlock } = require('./arguments.js')
const native = require('./load.js')

class Semaphore extends native.Semaphore {
  #mayBlock

  constructor(initial, options = {}) {
    checkOptions(options)
    const { name, allowBlockingMainThread = false } = options
    const may = mayBlock(allowBlockingMainThread)
    super(initial, name)
    this.#mayBlock = may
  }

  wait(timeoutMs) {
    checkMayBlock(this.#mayBlock, 'wait')
    return super.wait(timeoutMs)
  }
}

module.exports = { Semaphore }
