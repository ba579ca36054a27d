'use strict'
// A mutex over an engine.
const { LocalMutex, Runner } = require('../core/mutex.js')
const { acquireOptions, lockingOptions, readWait } = require('../core/options.js')
const { giveBackUndelivered } = require('../core/releaser.js')
const { run } = require('../core/run.js')
const { setTraits } = require('../core/waiter.js')
const { EngineLock } = require('./engine_lock.js')
const { releaserOf } = require('./hold.js')

const wish = Object.freeze({
  mode: 'exclusive',
  units: 1,
  isToWait: true,
})
/** The wish of waitForUnlock(). */
const pass = Object.freeze({ ...wish, isToStay: true })

class Passer extends Runner {}
setTraits(Passer, { isToStay: true })

class EngineMutex extends EngineLock {
  constructor(traits) {
    super(new LocalMutex(), traits)
    /** The current hold. */
    this.current = null
  }

  enterLocal({ isToStay }, limits) {
    return this.local.enter(limits, isToStay ? Passer : Runner)
  }

  leaveLocal() {
    this.holds?.lose(this.current)
    this.current = null
    this.local.unlock()
  }

  lossOf(hold) {
    return hold.loss
  }

  releaser(hold) {
    return releaserOf(this, hold)
  }

  grantOf(hold) {
    return this.releaser(hold)
  }

  /** Acquires, and resolves to use(hold). */
  async #hold(limits, use, asked = wish) {
    const hold = await this.take(asked, limits)
    if (hold === undefined) return undefined
    this.current = hold
    return use?.(hold)
  }

  /** Resolves to a grant for RecursiveMutex, as enter() of LocalMutex does. Here a grant is a hold. */
  enter(limits) {
    return this.#hold(limits, (hold) => hold)
  }

  lock(options) {
    return this.#hold(readWait(options, lockingOptions))
  }

  acquire(options) {
    return this.#hold(readWait(options, acquireOptions), (hold) => this.releaser(hold))
  }

  runExclusive(callback, options) {
    return run(callback, () => this.acquire(options), undefined, options)
  }

  isLocked() {
    return this.current !== null
  }

  unlock() {
    if (this.current === null) throw this.notHeld()
    this.give(this.current)
  }

  release() {
    if (this.current !== null) this.give(this.current)
  }

  waitForUnlock(options) {
    const use = (hold) => giveBackUndelivered(this.releaser(hold))
    return this.#hold(readWait(options), use, pass)
  }
}

// For RecursiveMutex the current hold is the grant.
const { grant, notHeld, snapshot } = LocalMutex.prototype
Object.assign(EngineMutex.prototype, { grant, notHeld, snapshot })

module.exports = { EngineMutex }
