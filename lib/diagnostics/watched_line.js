'use strict'
// Locks over an engine that are watched. Each grant is waited for: a server has been asked, or a lease that was here.
const { ago } = require('./clock.js')
const { Record } = require('./record.js')
const { publish, wait } = require('./events.js')

const made = new Map()

/** The class of lines that is derived from `Base`. */
function watchedLine(Base) {
  if (!made.has(Base)) made.set(Base, watching(Base))
  return made.get(Base)
}

const watching = (Base) =>
  class extends Base {
    observe(kind, scope, settings, tally) {
      this.record = new Record(this, kind, scope, settings, tally)
      return this
    }

    async take(wish, limits) {
      const { record } = this
      const { mode, units } = stakeOf(this, wish)
      const asked = record.begins(mode, units)
      record.appends(asked)
      publish(wait, asked)
      try {
        const hold = await super.take(wish, limits)
        record.left(asked)
        record.admitted = asked
        hold.watched = record.granted(this, mode, units, hold.isAbandoned)
        return hold
      } catch (error) {
        record.left(asked)
        record.missed(asked, error, ago(asked.since))
        throw error
      }
    }

    give(hold) {
      if (!hold.isOver) this.record.ends(hold.watched, hold.watched.units)
      super.give(hold)
    }

    /** What is given back of it is held no more. */
    reduce(hold, units) {
      hold.watched.units = units
      super.reduce(hold, units)
    }

    /** A reader has become the writer, or the other way round. */
    succeed(next, hold, place, isWriter) {
      this.record.ends(hold.watched, 1)
      const mode = isWriter ? 'exclusive' : 'shared'
      next.watched = this.record.granted(this, mode, 1, next.isAbandoned)
      return super.succeed(next, hold, place, isWriter)
    }

    /** Of other machines there is nothing to see. */
    holdersElsewhere(ours) {
      return ours
    }

    totals() {
      return this.record.tally.totals()
    }

    holdersHere(time) {
      return this.record.holders(time)
    }

    snapshot() {
      return this.record.seen(this, super.snapshot())
    }
  }

/** How a lock is wanted by `wish` (see cohort.js). */
function stakeOf({ kind }, { isShared, units }) {
  if (kind === 'semaphore') return { mode: undefined, units }
  return { mode: isShared ? 'shared' : 'exclusive', units: 1 }
}

module.exports = { watchedLine }
