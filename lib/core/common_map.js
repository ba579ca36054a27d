'use strict'

/**
 * Derives from `Base` a key map that all objects of one name share in this thread. `fairness` and `diagnostics` of one
 * object apply to all of them. The locks of the map have a beStrict().
 */
const commonMap = (Base) =>
  class extends Base {
    /** Whether any object of this thread has `fairness: 'fifo'`. */
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
