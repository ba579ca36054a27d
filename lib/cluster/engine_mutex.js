'use strict'
// A mutex over an engine.
const { lockError } = require('../core/errors.js')
const { LocalMutex } = require('../core/mutex.js')
const { acquireOptions, checkCallback, lockingOptions, readWait } = require('../core/options.js')
const { EngineLock } = require('./engine_lock.js')

const wish = Object.freeze({
  mode: 'exclusive',
  units: 1,
  cost: 1,
  isShared: false,
  isToWait: true,
})

class EngineMutex extends EngineLock {
  constructor(traits) {
    super(new LocalMutex(), traits)
    /** The hold there is. */
    this.current = null
  }

  enterLocal(_wish, limits) {
    return this.local.lock(limits)
  }

  leaveLocal() {
    this.current = null
    this.local.unlock()
    return this.local.isLocked() ? 1 : 0
  }

  /** What RecursiveMutex knows its hold by. */
  grant() {
    return this.current
  }

  grantOf(hold) {
    return this.releaser(hold)
  }

  /** The callback of a RecursiveMutex ends its hold by itself: callers from inside are in it still. */
  end(hold) {
    if (this.holds === undefined) super.end(hold)
  }

  /** A promise for what `use` makes of the hold. */
  async #hold(limits, use) {
    const hold = await this.take(wish, limits)
    if (hold === undefined) return undefined
    this.current = hold
    return use?.(hold)
  }

  /** For RecursiveMutex, as LocalMutex has it: a promise for a grant, which is a hold here. */
  enter(limits) {
    return this.#hold(limits, (hold) => hold)
  }

  lock(options) {
    return this.#hold(readWait(options, lockingOptions))
  }

  acquire(options) {
    return this.#hold(readWait(options, acquireOptions), (hold) => this.releaser(hold))
  }

  async runExclusive(callback, options) {
    checkCallback(callback)
    const release = await this.acquire(options)
    if (release === undefined) return undefined
    try {
      return await callback(release)
    } finally {
      release()
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
    return this.#hold(readWait(options), (hold) => this.giveUnseen(hold))
  }
}

module.exports = { EngineMutex }
