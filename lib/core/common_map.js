'use strict'

/**
 * Key maps of class `Base` that all objects of this thread with one name share: what one object asks for applies to all of
 * them. Their locks have a beStrict().
 */
const commonMap = (Base) =>
  class extends Base {
    /** Whether an object of this thread asked for `fairness: 'fifo'`. */
    isStrict = false

    moveIn(lock) {
      super.moveIn(lock)
      if (this.isStrict) lock.beStrict()
      if (this.watch !== undefined) this.watch.watches(lock)
    }

    /** Called for each further object of this thread. */
    isFor(isStrict, watch) {
      if (isStrict && !this.isStrict) this.beStrict()
      if (watch !== undefined && this.watch === undefined) this.beWatched(watch)
    }

    beStrict() {
      this.isStrict = true
      this.sweep() // idle locks move in again, strictly
      for (const lock of this.busy()) lock.beStrict()
    }

    /** The first object with diagnostics decides for all objects. */
    beWatched(watch) {
      this.sweep()
      watch.over(this)
      for (const lock of this.busy()) watch.watches(lock)
    }
  }

module.exports = { commonMap }
