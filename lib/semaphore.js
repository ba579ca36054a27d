'use strict'
const { readCancelError } = require('./options.js')
const { SemaphoreCore } = require('./semaphore_core.js')

class Semaphore {
  #core

  constructor(value, options = {}) {
    this.#core = new SemaphoreCore(value)
    const cancelError = readCancelError(options)
    if (cancelError !== undefined) this.#core.cancelError = cancelError
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
}

module.exports = { Semaphore }
