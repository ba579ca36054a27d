'use strict'
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { RecursiveCore } = require('./recursive_core.js')

class RecursiveMutex {
  #core
  #mayBlock

  constructor(options = {}) {
    const read = readLockOptions(options, RecursiveCore.bytes)
    this.#core = new RecursiveCore()
    settle(this.#core, read)
    this.#mayBlock = read.mayBlock
  }

  // Forms with a callback only. What acquire() gave its caller could not be in the caller's context: what
  // AsyncLocalStorage.enterWith sets there stays, and is seen by the siblings that the caller starts after
  // it has released. They would count as holders, and a lock that lets two in is worse than none.

  runExclusive(callback, options) {
    return this.#core.runExclusive(callback, options)
  }

  executeLocked(callback, options) {
    return this.#core.runExclusive(callback, options)
  }

  runExclusiveSync(callback, options) {
    checkMayBlock(this.#mayBlock, 'runExclusiveSync')
    return this.#core.runExclusiveSync(callback, options)
  }

  isLocked() {
    return this.#core.isLocked()
  }

  isHeld() {
    return this.#core.isHeld()
  }

  cancel(reason) {
    this.#core.cancel(reason)
  }

  get buffer() {
    return this.#core.shareOut().buffer
  }

  get byteOffset() {
    return this.#core.shareOut().byteOffset
  }
}

module.exports = { RecursiveMutex }
