'use strict'
// A lent mutex whose lender keeps `minHold` and `maxHold`: timed_lender.js.
const { lockError } = require('../core/errors.js')
const { unseen } = require('../core/releaser.js')
const { TimedMutexLender } = require('./timed_lender.js')

/** Mutexes of class `Base`, which is derived from LentMutex. */
const timed = (Base) =>
  class extends Base {
    /** The lock is here, unless it has to rest for a holder that died. */
    handOn(isAbandoned) {
      const { lender } = this
      if (!lender.mayGrant()) return false
      lender.begin()
      if (super.handOn(isAbandoned)) return true
      lender.unuse()
      return false
    }

    enqueue(waiter) {
      super.enqueue(waiter)
      this.lender.keepEnd(this.hasQueue())
    }

    admit() {
      this.lender.keepEnd(this.hasQueue())
      super.admit()
    }

    releaser(grant, isAbandoned) {
      const release = super.releaser(grant, isAbandoned)
      release[unseen] = () => {
        if (this.current !== grant) return
        this.lender.unuse()
        this.end(isAbandoned)
      }
      return release
    }

    /** No-op while it rests: it has been released. */
    release() {
      if (!this.lender.isResting) super.release()
    }

    lockSync() {
      const message = `${this.title()} has a maxHold or a minHold, whose timers a blocked thread would not hear: use a method that returns a promise`
      throw lockError('ERR_LOCK_UNSUPPORTED', message)
    }
  }

const classes = new Map()

function timedMutexIn(segment, Base, times) {
  if (!classes.has(Base)) classes.set(Base, timed(Base))
  return new (classes.get(Base))(new TimedMutexLender(segment, times))
}

module.exports = { timedMutexIn }
