'use strict'
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { SemaphoreCore } = require('./semaphore_core.js')

class Semaphore {
  #core
  #mayBlock

  constructor(value, options = {}) {
    this.#core = new SemaphoreCore(value)
    const read = readLockOptions(options, SemaphoreCore.bytes)
    settle(this.#core, read)
    this.#mayBlock = read.mayBlock
  }

  acquire(weight, priority) {
    return this.#core.acquire(weight, priority)
  }

  tryAcquire(weight) {
    return this.#core.tryAcquire(weight)
  }

  runExclusive(callback, weight, priority) {
    return this.#core.runExclusive(callback, weight, priority)
  }

  executeLocked(callback, weight, priority) {
    return this.#core.runExclusive(callback, weight, priority)
  }

  acquireSync(weight, options) {
    checkMayBlock(this.#mayBlock, 'acquireSync')
    return this.#core.acquireSync(weight, options)
  }

  runExclusiveSync(callback, weight, options) {
    checkMayBlock(this.#mayBlock, 'runExclusiveSync')
    return this.#core.runExclusiveSync(callback, weight, options)
  }

  waitForUnlock(weight, priority) {
    return this.#core.waitForUnlock(weight, priority)
  }

  isLocked() {
    return this.#core.isLocked()
  }

  getValue() {
    return this.#core.getValue()
  }

  setValue(value) {
    this.#core.setValue(value)
  }

  release(weight) {
    this.#core.release(weight)
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

module.exports = { Semaphore }
