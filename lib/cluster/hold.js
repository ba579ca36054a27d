'use strict'

/** What one caller has of a lease. */
class Hold {
  #controller
  #error

  constructor(lease, wish) {
    this.lease = lease
    this.wish = wish
    this.isOver = false
    /** What it had before it was upgraded, and has still. */
    this.under = undefined
    /** The holder before us, elsewhere, did not let go of the lease. */
    this.isAbandoned = lease.isAbandoned
    lease.isAbandoned = false
    lease.isUntold = false
    lease.isUnused = false
    this.token = lease.turn.nextToken()
    lease.holds.add(this)
  }

  lose(error) {
    this.#error = error
    this.#controller?.abort(error)
  }

  /** It is of the caller that had `other`: with the same signal. */
  follow(other) {
    this.#error = other.#error
    this.#controller = other.#controller
  }

  /** Whether the server is to hear of it where no caller has seen it. */
  isToUnsee() {
    return this.isAbandoned || this.lease.cohort.minHold > 0
  }

  /** No caller has seen it: the next one is told in its stead of the holder that did not let go. */
  unsee() {
    if (this.lease.holds.size === 1) this.lease.isUnused = true
    if (!this.isAbandoned) return
    this.lease.isAbandoned = true
    this.lease.isUntold = true
  }

  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#error !== undefined) this.#controller.abort(this.#error)
    }
    return this.#controller.signal
  }
}

module.exports = { Hold }
