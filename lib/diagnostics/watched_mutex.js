'use strict'
// Mutexes that are watched. One that is free is taken at the price of a count and a time, unless its holds are to be
// told apart: then it has a Hold.
const { turnTime } = require('./clock.js')
const { admit, release } = require('./events.js')
const { listeners } = require('./registry.js')
const { gives, watchedCore } = require('./watched_core.js')
const { watchReleaser } = require('./warnings.js')
const { MutexCore } = require('../mutex_core.js')
const { dressed } = require('../releaser.js')
const { run } = require('../run.js')
const { grantedAbandoned, isGranted } = require('../waiters.js')

const watchedMutex = (Base) =>
  class extends watchedCore(Base) {
    take() {
      if (!super.take()) return false
      const { record } = this
      if (record.isDeep || admit.hasSubscribers) {
        this.enters(false)
      } else {
        record.tally.acquisitions++
        record.since = turnTime()
      }
      return true
    }

    enters(abandoned) {
      const { record } = this
      if (!(record.isDeep || abandoned || admit.hasSubscribers)) {
        record.since = record.counts(false)
        return
      }
      record.current = record.granted(this, 'exclusive', undefined, abandoned)
      record.since = record.current.since
    }

    tryNow() {
      const outcome = super.tryNow()
      if (isGranted(outcome)) this.enters(outcome === grantedAbandoned)
      return outcome
    }

    enterSync(weight, limits) {
      const outcome = super.enterSync(weight, limits)
      this.enters(outcome === grantedAbandoned)
      return outcome
    }

    /** Back from a condition variable; or it is about to be shared, and its record knows it. */
    setGrant(grant, isHeld) {
      super.setGrant(grant, isHeld)
      if (isHeld && this.record.since === 0) this.enters(false)
    }

    unlock() {
      const { record } = this
      if (record.current !== null || release.hasSubscribers) this.leaves()
      super.unlock()
    }

    leaves() {
      const { record, key } = this
      if (record.since === 0 || !this.isHeldHere()) return
      const { current, since } = record
      record.current = null
      record.since = 0
      if (current === null) record.tellsRelease({ record, key, since, mode: 'exclusive' })
      else record.ends(current)
    }

    /** Its word tells which thread of this process has it. */
    holdersElsewhere(ours, held) {
      if (held.holderPids !== undefined || !held.locked || this.isHeldHere()) {
        return super.holdersElsewhere(ours, held)
      }
      return [{ thread: listeners().get(this.owner()), mode: 'exclusive' }]
    }

    isHeldHere() {
      return this.share === null ? this.owner() === this.self : this.share.isHeld
    }

    endGrant() {
      super.endGrant()
      const { record } = this
      record.since = 0
      if (record.current === null) return
      // Not by unlock(): it waits for a condition, or was not to hear of a death.
      const { current } = record
      record.current = null
      record.ends(current)
    }
  }

/** The same where deadlocks are looked for, and releasers missed. */
const fullyWatchedMutex = (Base) => {
  const dress = Base.prototype.dress ?? dressed
  class FullyWatched extends watchedMutex(Base) {
    dress(release, abandoned, isGood) {
      const whole = dress.call(this, release, abandoned, isGood)
      watchReleaser(whole, this.record.current)
      return whole
    }

    acquire(options) {
      this.record.latest = null
      return gives(this.record, super.acquire(options))
    }

    lock(options) {
      this.record.latest = null
      const promise = super.lock(options)
      // That of a free lock is the same for all.
      return this.record.latest === null ? promise : gives(this.record, Promise.resolve().then())
    }
  }
  if (Base.prototype.runExclusive !== MutexCore.prototype.runExclusive) return FullyWatched
  return class extends FullyWatched {
    /** By acquire(), whose promise says who goes on with it. */
    runExclusive(callback, options) {
      return run(callback, () => this.acquire(options))
    }
  }
}

module.exports = { fullyWatchedMutex, watchedMutex }
