'use strict'
// Semaphores that are watched. A hold is what a releaser stands for. What is put back by release(), without one, ends
// the oldest holds: nobody knows whose it was.
const deadlock = require('./deadlock.js')
const { gives, watchedCore } = require('./watched_core.js')
const { watchReleaser } = require('./warnings.js')
const { dressed, unseen } = require('../releaser.js')

const watchedSemaphore = (Base) => {
  const dress = Base.prototype.dress ?? dressed
  return class extends watchedCore(Base) {
    modeOf() {
      return undefined
    }

    unitsOf(weight) {
      return weight
    }

    isTaken(weight) {
      return this.hasLine() || !this.hasRoom(weight)
    }

    dress(release, abandoned, isGood, weight) {
      const { record } = this
      const hold = record.granted(this, undefined, weight, abandoned)
      const letGo = () => {
        record.ends(hold)
        release()
      }
      if (abandoned) {
        letGo[unseen] = () => {
          record.ends(hold)
          release[unseen]()
        }
      }
      const whole = dress.call(this, letGo, abandoned, isGood)
      if (record.isFull) watchReleaser(whole, hold)
      return whole
    }

    release(weight = 1) {
      if (weight > 0) this.record.givesBack(weight)
      super.release(weight)
    }
  }
}

const fullyWatchedSemaphore = (Base) =>
  class extends watchedSemaphore(Base) {
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
