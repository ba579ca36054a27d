'use strict'
// What a reader that upgrades asks the server for: all units but the one that it has, ahead of the queue. It is the
// writer when it has both. The server refuses a second one, since each would wait for the other.
const { upgradeError } = require('../core/rw_errors.js')
const { asked, now } = require('./clock.js')
const { lostError } = require('../core/errors.js')
const { Lease } = require('./lease.js')

class UpgradeLease extends Lease {
  /** `base` is the lease that it reads by. */
  constructor(cohort, units, isToWait, base) {
    super(cohort, units, isToWait)
    this.base = base
  }

  request() {
    return { ...super.request(), first: true }
  }

  /** It is one lease with its base, and ends with it. When that is, a claim does not say: its confirmation is on its way. */
  maxHold() {
    if (this.cohort.maxHold === Infinity) return super.maxHold()
    const { claimed, until } = this.base
    return claimed === undefined ? Math.max(1, Math.floor(asked(until - now()))) : super.maxHold()
  }

  ask() {
    if (this.state !== 'asking') return
    if (this.base.state === 'held') super.ask()
    else this.cohort.refused(this, lostError(this.cohort.title(), 'its reader has lost it'))
  }

  claim() {
    return this.base.state === 'held' && super.claim()
  }

  heard(answer, ...rest) {
    if (answer.state !== 'upgrading') super.heard(answer, ...rest)
    else if (this.state === 'asking') this.cohort.refused(this, upgradeError(this.cohort))
  }
}

UpgradeLease.prototype.isForOthers = false

module.exports = { UpgradeLease }
