'use strict'
// Mutexes that are watched. One that is free is taken at the price of a count and a time, unless its holds are to be
// told apart: then it has a Hold.
const { turnTime } = require('./clock.js')
const { admit, release } = require('./events.js')
const { holderOf } = require('./record.js')
const { listeners } = require('./registry.js')
const { fullyWatchedCore, gives, watchedCore } = require('./watched_core.js')
const { run } = require('../locks/run.js')
const { grantedAbandoned, isGranted } = require('../process/waiters.js')

const watchedMutex = (Base) =>
  class extends watchedCore(Base) {
    /**
     * Whether it keeps its own count, and its own time: its record has those of others, where they cost more. It is of
     * this thread, it is no key, and nobody wants to know each hold.
     */
    isPlain = false
    /** Of one that is plain: since when it is held, if it is, and how often it has been taken. */
    since = 0
    taken = 0
    /** Whether somebody passes through: who never had it. */
    isPassing = false

    observe(kind, scope, settings, tally) {
      super.observe(kind, scope, settings, tally)
      this.isPlain = tally === undefined && !this.record.isDeep
      return this
    }

    /** Its record, which may be that of others from then on, takes over. */
    settleIn(title, findShare) {
      const { isPlain, since, taken } = this
      const isHeld = isPlain && this.isHeldHere()
      super.settleIn(title, findShare)
      this.isPlain = false
      this.taken = 0
      this.record.tally.acquisitions += taken
      if (isHeld) this.record.since = since
    }

    totals() {
      const totals = super.totals()
      return { ...totals, acquisitions: totals.acquisitions + this.taken }
    }

    take() {
      if (!super.take()) return false
      if (this.isPlain && !admit.hasSubscribers) {
        this.since = turnTime()
        this.taken++
      } else {
        this.enters(false)
      }
      return true
    }

    enters(abandoned) {
      const { record } = this
      const { admitted } = record
      const since = record.counts(abandoned)
      if (this.isPlain) this.since = since
      else record.since = since
      if (abandoned || admit.hasSubscribers) {
        record.tells(this.stakeOf(1), admitted === null ? 0 : since - admitted.since, abandoned)
      }
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

    comeBack(grant) {
      super.comeBack(grant)
      this.enters(false)
    }

    unlock() {
      if (this.hasToTell() && this.isHeldHere()) this.leaves()
      super.unlock()
    }

    hasToTell() {
      return release.hasSubscribers
    }

    /** It is about to be let go of. */
    leaves() {
      if (this.isPassing) this.isPassing = false
      else if (release.hasSubscribers) this.record.tellsRelease(this.stakeOf(1), this.heldSince())
    }

    heldSince() {
      return this.isPlain ? this.since : this.record.since
    }

    stepAside() {
      this.leaves()
      super.stepAside()
    }

    disown() {
      this.leaves()
      super.disown()
    }

    passNow(weight, abandoned) {
      this.isPassing = true
      super.passNow(weight, abandoned)
      this.isPassing = false
    }

    holdersHere(time) {
      if (!this.isHeldHere()) return []
      return [holderOf({ since: this.heldSince(), mode: 'exclusive' }, time)]
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
  }

/** The same where each hold is told apart. */
const deepMutex = (Base) =>
  class extends watchedMutex(Base) {
    enters(abandoned) {
      this.record.current = this.record.granted(this, 'exclusive', 1, abandoned)
    }

    hasToTell() {
      return this.record.current !== null
    }

    leaves() {
      const { record } = this
      const { current } = record
      record.current = null
      if (current !== null) record.ends(current, 1)
    }

    holdersHere(time) {
      return this.record.holders(time)
    }
  }

/** The same where deadlocks are looked for, and releasers missed. */
const fullyWatchedMutex = (Base) => {
  class FullyWatched extends fullyWatchedCore(deepMutex(Base)) {
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
  return class extends FullyWatched {
    /** By acquire(), whose promise says who goes on with it. */
    runExclusive(callback, options) {
      return run(callback, () => this.acquire(options))
    }
  }
}

module.exports = { deepMutex, fullyWatchedMutex, watchedMutex }
