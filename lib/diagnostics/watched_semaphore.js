'use strict'
// Semaphores that are watched. A hold is what a releaser stands for. What is put back by release(), without one, ends
// the oldest holds: nobody knows whose it was.
const deadlock = require('./deadlock.js')
const { fullyWatchedCore, gives, watchedCore } = require('./watched_core.js')

const watchedSemaphore = (Base) =>
  class extends watchedCore(Base) {
    modeOf() {
      return undefined
    }

    isTaken(weight) {
      return this.hasLine() || !this.hasRoom(weight)
    }

    putOut(weight, abandoned) {
      super.putOut(weight)
      return this.record.granted(this, undefined, weight, abandoned)
    }

    putIn(weight, hold) {
      this.record.ends(hold, weight)
      super.putIn(weight)
    }

    release(weight = 1) {
      if (weight > 0) this.record.givesBack(weight)
      super.release(weight)
    }
  }

const fullyWatchedSemaphore = (Base) =>
  class extends fullyWatchedCore(watchedSemaphore(Base)) {
    acquire(weight, priority) {
      this.record.latest = null
      return gives(this.record, super.acquire(weight, priority))
    }

    release(weight) {
      deadlock.loosens(this)
      super.release(weight)
    }

    setValue(value) {
      deadlock.loosens(this)
      super.setValue(value)
    }
  }

module.exports = { fullyWatchedSemaphore, watchedSemaphore }
