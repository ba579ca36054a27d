'use strict'
const { checkMayBlock, readLockOptions, settle } = require('./lock_options.js')
const { readSyncWait } = require('./options.js')
const { run, runSync } = require('./run.js')
const { RWCore } = require('./rw_core.js')

class RWLock {
  #core
  #mayBlock

  constructor(options = {}) {
    const read = readLockOptions(options, RWCore.bytes)
    this.#core = new RWCore(read.mayBlock)
    settle(this.#core, read)
    this.#mayBlock = read.mayBlock
  }

  acquireRead(options) {
    return this.#core.acquireRead(options)
  }

  acquireWrite(options) {
    return this.#core.acquireWrite(options)
  }

  tryAcquireRead() {
    return this.#core.tryAcquireRead()
  }

  tryAcquireWrite() {
    return this.#core.tryAcquireWrite()
  }

  runShared(callback, options) {
    return run(callback, () => this.#core.acquireRead(options))
  }

  runExclusive(callback, options) {
    return run(callback, () => this.#core.acquireWrite(options))
  }

  acquireReadSync(options) {
    checkMayBlock(this.#mayBlock, 'acquireReadSync')
    return this.#core.acquireReadSync(readSyncWait(options))
  }

  acquireWriteSync(options) {
    checkMayBlock(this.#mayBlock, 'acquireWriteSync')
    return this.#core.acquireWriteSync(readSyncWait(options))
  }

  runSharedSync(callback, options) {
    return runSync(callback, () => this.acquireReadSync(options))
  }

  runExclusiveSync(callback, options) {
    return runSync(callback, () => this.acquireWriteSync(options))
  }

  get readers() {
    return this.#core.readers()
  }

  isLocked() {
    return this.#core.isLocked()
  }

  isWriteLocked() {
    return this.#core.isWritten()
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

module.exports = { RWLock }
