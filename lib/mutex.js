'use strict'
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { MutexCore } = require('./mutex_core.js')
const { readSyncWait } = require('./options.js')

/** The core of a Mutex, for those who wait for a condition with it. */
let coreOf

class Mutex {
  #core
  #mayBlock

  static {
    coreOf = (mutex) => {
      if (mutex instanceof Mutex) return mutex.#core
      throw new TypeError('mutex must be a Mutex')
    }
  }

  constructor(options = {}) {
    const read = readLockOptions(options, MutexCore.bytes)
    this.#core = new MutexCore()
    settle(this.#core, read)
    this.#mayBlock = read.mayBlock
  }

  acquire(options) {
    return this.#core.acquire(options)
  }

  tryAcquire() {
    return this.#core.tryAcquire()
  }

  runExclusive(callback, options) {
    return this.#core.runExclusive(callback, options)
  }

  executeLocked(callback, options) {
    return this.#core.runExclusive(callback, options)
  }

  lock(options) {
    return this.#core.lock(options)
  }

  tryLock() {
    return this.#core.tryLock()
  }

  lockSync(options) {
    checkMayBlock(this.#mayBlock, 'lockSync')
    this.#core.lockSync(readSyncWait(options))
  }

  acquireSync(options) {
    checkMayBlock(this.#mayBlock, 'acquireSync')
    return this.#core.acquireSync(readSyncWait(options))
  }

  runExclusiveSync(callback, options) {
    checkMayBlock(this.#mayBlock, 'runExclusiveSync')
    return this.#core.runExclusiveSync(callback, readSyncWait(options))
  }

  unlock() {
    this.#core.unlock()
  }

  release() {
    this.#core.release()
  }

  waitForUnlock(options) {
    return this.#core.waitForUnlock(options)
  }

  isLocked() {
    return this.#core.isLocked()
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

module.exports = { coreOf, Mutex }
