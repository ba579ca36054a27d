'use strict'
// A semaphore over an engine. Each caller has a lease of its weight; a lease goes to another one of that weight.
const { readAcquire, SemaphoreCore } = require('../semaphore_core.js')
const { readWait } = require('../options.js')
const { notSync } = require('./errors.js')
const { LineCore } = require('./local_line.js')

class SemaphoreLine extends LineCore {
  constructor(traits) {
    super(new SemaphoreCore(traits.capacity), traits)
  }

  async enter({ units }, limits) {
    const [before, release] = await this.local.acquire(units, limits)
    return { before, release }
  }

  leaveLine({ units }, { release }) {
    const free = this.local.getValue() + units
    release()
    return free - this.local.getValue()
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const { weight, limits = readWait(undefined) } = readAcquire(weightOrOptions, priorityOrOptions)
    return this.#acquire(weight, limits)
  }

  async #acquire(units, limits) {
    const hold = await super.acquire(
      { units, cost: units, isShared: false, isToWait: true },
      limits,
    )
    return [hold.place.before, this.releaser(hold)]
  }

  async waitForUnlock(weight, options) {
    const [, release] = await this.acquire(weight, options)
    release()
  }

  getValue() {
    return this.local.getValue()
  }

  snapshot() {
    return { value: this.getValue(), waiting: this.queueSize() }
  }

  tryAcquire() {
    notSync('tryAcquire', 'acquire(key, weight, { timeout: 0 })')
  }

  acquireSync() {
    notSync('acquireSync', 'acquire()')
  }

  release() {
    throw new TypeError(
      `${this.title()} is released by its releasers only, which know their leases`,
    )
  }
}

module.exports = { SemaphoreLine }
