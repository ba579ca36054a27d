'use strict'
const { turnTime } = require('./clock.js')
const events = require('./events.js')
const { Observer } = require('./observer.js')
const { holderOf } = require('./reports.js')

/**
 * The observer of a mutex with 'counters'. A mutex has at most one holder, so it needs no list of holds: a grant costs
 * a count and a time.
 */
class MutexObserver extends Observer {
  /** The time of the grant, or 0 when the mutex is free. */
  since = 0

  granted(mode, units, waiter, isAbandoned) {
    const since = turnTime()
    this.since = since
    this.tally.totals.acquisitions++
    const wait = waiter === null ? undefined : waiter.wait
    if (wait !== undefined) this.waited(waiter, wait, since)
    if (isAbandoned || events.admit.hasSubscribers) {
      this.tells(mode, units, isAbandoned, wait === undefined ? 0 : since - wait.since, waiter)
    }
    return null
  }

  ended() {
    const { since } = this
    this.since = 0
    if (since !== 0) this.tally.holds.add(turnTime() - since)
    if (since !== 0 && events.release.hasSubscribers) this.tellsRelease('exclusive', 1, since)
  }

  holders(time) {
    return this.since === 0 ? [] : [holderOf({ since: this.since, mode: 'exclusive' }, time)]
  }
}

module.exports = { MutexObserver }
