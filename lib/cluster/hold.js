'use strict'
const { LazySignal } = require('../core/lazy_signal.js')
const { defineLazy, makeReleaser, undelivered } = require('../core/releaser.js')

/** One caller's part of a lease. */
class Hold {
  #signal = new LazySignal()
  /** The error of its loss, if it has been lost. */
  loss = undefined

  constructor(lease, wish) {
    this.lease = lease
    this.wish = wish
    this.isOver = false
    /** The observer's record of the hold, if the lock has diagnostics. Not set for waitForUnlock(). */
    this.observed = undefined
    /** The hold before its upgrade, which it still includes. */
    this.under = undefined
    /** Whether the previous holder did not release, so that this hold reports a lost holder. */
    this.isAbandoned = lease.isAbandoned
    lease.isAbandoned = false
    lease.isUnused = false
    this.token = lease.turn.nextToken()
    lease.holds.add(this)
  }

  /** Begins the hold for `caller`, which has `localGrant` of the local lock. */
  begin(localGrant, caller) {
    this.localGrant = localGrant
    this.caller = caller
    caller.isIn = true
    return this
  }

  lose(error) {
    this.loss = error
    this.#signal.abort(error)
  }

  /** Takes over the signal of `other`, a hold of the same caller. */
  follow(other) {
    this.loss = other.loss
    this.#signal = other.#signal
  }

  /** Called if no caller has seen this hold, so that the next hold reports the lost holder instead. */
  markUndelivered() {
    if (this.isOver) return
    if (this.lease.holds.size === 1) this.lease.isUnused = true
    if (this.isAbandoned) this.lease.isAbandoned = true
  }

  get signal() {
    return this.#signal.signal
  }
}

const holdKey = Symbol('hold')

function signal() {
  return this[holdKey].signal
}

/** Makes the releaser of `hold`, which gives the hold back to `lock`. */
function releaserOf(lock, hold) {
  const Releaser = () => lock.give(hold)
  const release = makeReleaser(Releaser, hold.isAbandoned)
  release.fencingToken = hold.token
  release[holdKey] = hold
  // The server must be told if no caller gets this hold.
  if (hold.isAbandoned || hold.lease.cohort.minHold > 0) {
    release[undelivered] = () => {
      hold.markUndelivered()
      lock.give(hold)
    }
  }
  return defineLazy(release, 'signal', signal)
}

module.exports = { Hold, releaserOf }
