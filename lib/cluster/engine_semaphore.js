'use strict'
// A semaphore over an engine. Each caller has a lease of its weight, which may pass to another caller of that weight.
// release() without a Releaser ends or shrinks the oldest leases of this thread.
const { lockError } = require('../core/errors.js')
const { Acquirer, LocalSemaphore } = require('../core/semaphore.js')
const { ticketRuns } = require('../core/ticket_runs.js')
const { checkWeight, readWatch } = require('../core/units.js')
const { giveBackUndelivered } = require('../core/releaser.js')
const { asTicket } = require('../core/ticket.js')
const { checkStack } = require('../core/stack.js')
const { setTraits } = require('../core/waiter.js')
const { EngineLock } = require('./engine_lock.js')
const { releaserOf } = require('./hold.js')

const wish = Object.freeze({ isToWait: true })
/** The wish of waitForUnlock(). */
const pass = Object.freeze({ ...wish, isToStay: true })

class Passer extends Acquirer {}
setTraits(Passer, { isToStay: true })

class EngineSemaphore extends EngineLock {
  /** The holders, in order of admission. */
  #holds = new Set()
  /** Their units. The local semaphore also counts the callers that wait for the server. */
  #taken = 0

  constructor(traits) {
    super(new LocalSemaphore(traits.capacity), traits)
  }

  async enterLocal({ units, isToStay }, limits) {
    const Kind = isToStay ? Passer : Acquirer
    const ticket = await this.local.enter(units, limits, Kind)
    return ticket?.[0]
  }

  leaveLocal({ units }) {
    this.local.release(units)
  }

  acquireUnits({ weight, limits }, asked = wish) {
    if (weight <= this.capacity) return this.#hold({ ...asked, units: weight }, limits)
    throw new RangeError(
      `weight ${weight} is more than the value ${this.capacity} of ${this.title()}; for a priority: { priority: ${weight} }`,
    )
  }

  async #hold(asked, limits) {
    const hold = await this.take(asked, limits)
    if (hold === undefined) return undefined
    this.#holds.add(hold)
    this.#taken += hold.wish.units
    return asTicket(hold.localGrant, releaserOf(this, hold))
  }

  give(hold) {
    // Near the end of the stack no step below may fail halfway.
    checkStack()
    if (this.#holds.delete(hold)) this.#taken -= hold.wish.units
    super.give(hold)
  }

  async waitForUnlock(weight, options) {
    const [, release] = await this.acquireUnits(readWatch(weight, options), pass)
    giveBackUndelivered(release)
  }

  /** Throws: the value is fixed, because all constructors of the semaphore must agree on it. */
  setValue() {
    throw lockError(
      'ERR_LOCK_UNSUPPORTED',
      `${this.title()} cannot change its value over an engine: construct a semaphore with the new value under another name`,
    )
  }

  getValue() {
    return this.capacity - this.#taken
  }

  isLocked() {
    return this.getValue() <= 0
  }

  /** Puts back units that any caller of this thread has taken, at most as many as were taken. */
  release(weight = 1) {
    checkWeight(weight)
    let left = weight
    for (const hold of this.#holds) {
      const { units } = hold.wish
      if (units > left) {
        if (left > 0) this.reduce(hold, units - left)
        // A subscriber may have released this hold.
        if (!hold.isOver) this.#taken -= left
        return
      }
      left -= units
      this.give(hold)
    }
  }
}

// It cannot run a callback without waiting for the server: asynchronous.js.
const { runExclusiveSync: _, ...runs } = ticketRuns
Object.assign(EngineSemaphore.prototype, runs)

module.exports = { EngineSemaphore }
