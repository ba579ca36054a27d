'use strict'
// What every object has in common that stands for a single lock, event, condition ...
const { checkMayBlock } = require('./lock_options.js')
const { openLock } = require('./scopes.js')

/** The lock of one: for the classes derived from it, and those that work with their objects. */
let coreOf
/** The same for `method`, which is about to block this thread. */
let blockingCoreOf
/** What cancel() of it rejects with: over an engine objects of one core may differ in that. */
let cancelErrorOf

class Single {
  #core
  #cancelError

  static {
    coreOf = (single) => single.#core
    blockingCoreOf = (single, method) => {
      checkMayBlock(single.#core.mayBlock, method)
      return single.#core
    }
    cancelErrorOf = (single) => single.#cancelError
  }

  constructor(kind, args, options) {
    const { lock, cancelError } = openLock(kind, args, options)
    this.#core = lock
    this.#cancelError = cancelError
  }

  get buffer() {
    return this.#core.memory().buffer
  }

  get byteOffset() {
    return this.#core.memory().byteOffset
  }
}

module.exports = { blockingCoreOf, cancelErrorOf, coreOf, Single }
