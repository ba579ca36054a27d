'use strict'
// A semaphore over an engine. Each caller has a lease of its weight; a lease goes to another one of that weight. Where
// units come back by release(), and not by a Releaser, the first leases of this thread end, or become smaller.
const { lockError } = require('../core/errors.js')
const { LocalSemaphore } = require('../core/semaphore.js')
const { checkWeight, readAcquire, readWatch } = require('../core/units.js')
const { asTicket, unseen } = require('../core/releaser.js')
const { EngineLock } = require('./engine_lock.js')

class EngineSemaphore extends EngineLock {
  /** The holders, in the order of coming in. */
  #holds = new Set()

  constructor(traits) {
    super(new LocalSemaphore(traits.capacity), traits)
    this.whole = traits.capacity
  }

  async enterLocal({ units }, limits) {
    const [before] = await this.local.acquire(units, limits)
    return before
  }

  leaveLocal({ units }) {
    const free = this.local.getValue() + units
    this.local.release(units)
    return free - this.local.getValue()
  }

  acquire(weightOrOptions, priorityOrOptions) {
    return this.#acquire(readAcquire(weightOrOptions, priorityOrOptions))
  }

  #acquire({ weight, limits }) {
    if (weight <= this.whole) return this.#hold(weight, limits)
    throw new RangeError(`weight ${weight} is more than the value ${this.whole} of ${this.title()}`)
  }

  async #hold(units, limits) {
    const hold = await this.take({ units, cost: units, isShared: false, isToWait: true }, limits)
    if (hold === undefined) return undefined
    this.#holds.add(hold)
    return asTicket(hold.place, this.releaser(hold))
  }

  give(hold) {
    this.#holds.delete(hold)
    super.give(hold)
  }

  async waitForUnlock(weight, options) {
    const [, release] = await this.#acquire(readWatch(weight, options))
    const giveBack = release[unseen] ?? release
    giveBack()
  }

  /** The value is what all that construct it agree on. */
  setValue() {
    throw lockError(
      'ERR_LOCK_UNSUPPORTED',
      `${this.title()} keeps its value over an engine: construct another one with the new value and another name`,
    )
  }

  getValue() {
    return this.local.getValue()
  }

  snapshot() {
    return this.seen({ value: this.getValue(), waiting: this.queueSize() })
  }

  /** Units that this thread has taken, by whatever caller: not more than that. */
  release(weight = 1) {
    checkWeight(weight)
    let left = weight
    for (const hold of this.#holds) {
      const { units } = hold.wish
      if (units > left) {
        if (left > 0) this.reduce(hold, units - left)
        return
      }
      left -= units
      this.give(hold)
    }
  }
}

const { runExclusive } = LocalSemaphore.prototype
Object.assign(EngineSemaphore.prototype, { runExclusive })

module.exports = { EngineSemaphore }
