'use strict'
// A mutex over an engine.
const { lockError } = require('../core/errors.js')
const { LocalMutex } = require('../core/mutex.js')
const { checkCallback, readWait } = require('../core/options.js')
const { notSync } = require('./errors.js')
const { LineCore } = require('./local_line.js')

const wish = Object.freeze({
  mode: 'exclusive',
  units: 1,
  cost: 1,
  isShared: false,
  isToWait: true,
})
const instead = 'acquire({ timeout: 0 })'

class MutexLine extends LineCore {
  constructor(traits) {
    super(new LocalMutex(), traits)
    /** The hold there is. */
    this.current = null
  }

  enter(_wish, limits) {
    return this.local.lock(limits)
  }

  leaveLine() {
    this.current = null
    this.local.unlock()
    return this.local.isLocked() ? 1 : 0
  }

  lock(options) {
    return this.#lock(readWait(options))
  }

  async #lock(limits) {
    await this.#hold(limits)
  }

  async #hold(limits) {
    const hold = await this.take(wish, limits)
    this.current = hold
    return hold
  }

  acquire(options) {
    return this.#acquire(readWait(options))
  }

  async #acquire(limits) {
    return this.releaser(await this.#hold(limits))
  }

  async runExclusive(callback, options) {
    checkCallback(callback)
    const hold = await this.#hold(readWait(options))
    try {
      return await callback()
    } finally {
      this.give(hold)
    }
  }

  isLocked() {
    return this.current !== null
  }

  snapshot() {
    return this.seen({ locked: this.isLocked(), waiting: this.queueSize() })
  }

  unlock() {
    if (this.current === null) {
      throw lockError('ERR_LOCK_NOT_HELD', `${this.title()} is not held by this thread`)
    }
    this.give(this.current)
  }

  release() {
    if (this.current !== null) this.give(this.current)
  }

  waitForUnlock(options) {
    return this.#pass(readWait(options))
  }

  async #pass(limits) {
    this.giveUnseen(await this.#hold(limits))
  }

  tryLock() {
    notSync('tryLock', instead)
  }

  tryAcquire() {
    notSync('tryAcquire', instead)
  }

  lockSync() {
    notSync('lockSync', 'lock()')
  }

  acquireSync() {
    notSync('acquireSync', 'acquire()')
  }

  runExclusiveSync() {
    notSync('runExclusiveSync', 'runExclusive()')
  }
}

module.exports = { MutexLine }
