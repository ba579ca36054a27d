'use strict'
// Read-write locks that are watched. A hold is what a releaser stands for: an upgrade ends that of a reader and begins
// that of a writer, a downgrade the other way round.
const { fullyWatchedCore, gives, watchedCore, watchedKind } = require('./watched_core.js')
const { Upgrader } = require('../process/rw_grants.js')

// What is asked for, as rw_core.js has it.
const read = 1
const upgrade = 3

const watchedRW = (Base) =>
  class extends watchedCore(Base) {
    Upgrader = watchedKind(Upgrader)
    /** Whether one is upgrading by the call that is on the stack, who has no time to wait. */
    isRisingNow = false

    modeOf(ask) {
      return ask === read ? 'shared' : 'exclusive'
    }

    beganReading(grant, abandoned) {
      super.beganReading()
      grant.hold = this.record.granted(this, 'shared', 1, abandoned)
    }

    beganWriting(grant, abandoned) {
      super.beganWriting()
      grant.hold = this.record.granted(this, 'exclusive', 1, abandoned)
    }

    /** With a grant where the reader has become a writer. */
    endedReading(grant) {
      super.endedReading()
      if (grant === undefined) return
      this.record.ends(grant.hold, 1)
      if (grant.wait !== undefined) this.record.admitted = grant.wait
    }

    endRead(grant) {
      this.record.ends(grant.hold, 1)
      super.endRead(grant)
    }

    endWrite(grant) {
      this.record.ends(grant.hold, 1)
      super.endWrite(grant)
    }

    abandon(isWriter, grant) {
      this.record.ends(grant.hold, 1)
      super.abandon(isWriter, grant)
    }

    /** Nobody is told before those have come in who were let in by it. */
    downgrade(grant) {
      this.record.ends(grant.hold, 1)
      return this.record.quietly(() => super.downgrade(grant))
    }

    upgrade(grant, limits) {
      this.isRisingNow = limits.timeout === 0
      try {
        const promise = super.upgrade(grant, limits)
        const { entering } = this.record
        if (entering !== null) {
          entering.wait.hold = grant.hold
          this.stands(promise)
        }
        return promise
      } finally {
        this.isRisingNow = false
      }
    }

    timeoutError(timeout) {
      const error = super.timeoutError(timeout)
      if (this.isRisingNow) this.misses(upgrade, error)
      return error
    }

    upgradeSync(grant, limits) {
      const now = grant.pending === null ? this.tryUpgrade(grant) : undefined
      if (now !== undefined) return now
      const block = (wait) => {
        grant.wait = wait
        try {
          return super.upgradeSync(grant, limits)
        } finally {
          grant.wait = undefined
        }
      }
      return this.blocks(upgrade, limits, block, grant.hold).result
    }
  }

const fullyWatchedRW = (Base) =>
  class extends fullyWatchedCore(watchedRW(Base)) {
    acquireRead(options) {
      this.record.latest = null
      return gives(this.record, super.acquireRead(options))
    }

    acquireWrite(options) {
      this.record.latest = null
      return gives(this.record, super.acquireWrite(options))
    }

    upgrade(grant, limits) {
      this.record.latest = null
      return gives(this.record, super.upgrade(grant, limits))
    }
  }

module.exports = { fullyWatchedRW, watchedRW }
