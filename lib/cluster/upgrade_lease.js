'use strict'
// The request of an upgrading reader, for all units but the one that it has, ahead of the queue. The reader
// becomes the writer when it has both leases. The server refuses a second upgrade, because the two would wait
// for each other.
const { upgradeError } = require('../core/rw_errors.js')
const { asked } = require('./clock.js')
const { Lease } = require('./lease.js')

class UpgradeLease extends Lease {
  /** `base` is the lease by which the caller reads. */
  constructor(cohort, units, isToWait, base) {
    super(cohort, units, isToWait)
    this.base = base
  }

  /** The lease ends together with its base. If the base is a claim, its end is not known yet. */
  maxHold() {
    if (this.cohort.maxHold === Infinity) return super.maxHold()
    if (this.base.isClaim()) return super.maxHold()
    return Math.max(1, Math.floor(asked(this.base.until - this.hub.clock.now())))
  }

  ask() {
    // The loss of the base has rejected the caller.
    if (this.base.state === 'held') super.ask()
  }

  answered(answer, ...rest) {
    if (answer.state !== 'upgrading') super.answered(answer, ...rest)
    else if (this.state === 'asking') this.cohort.denied(this, upgradeError(this.cohort))
  }
}

UpgradeLease.prototype.isFirst = true

module.exports = { UpgradeLease }
