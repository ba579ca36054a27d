'use strict'
// A lent mutex whose lender enforces `minHold` and `maxHold`: timed_lender.js.
const { undelivered } = require('../core/releaser.js')
const { blockedError, untilIdle } = require('./timed_hold.js')
const { TimedMutexLender } = require('./timed_lender.js')

/** The timed form of `Base`, a class derived from LentMutex. */
const timed = (Base) =>
  class extends Base {
    /** Refuses the loan while it must rest for a holder that died. */
    handOn(isAbandoned) {
      const { lender } = this
      if (!lender.mayGrant()) return false
      lender.begin()
      if (super.handOn(isAbandoned)) {
        lender.keepEnd(this.hasQueue())
        return true
      }
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

    onIdle() {
      return this.during(super.onIdle())
    }

    /** Resolves as `waiting`, which waits for a holder of this thread. Until then a maxHold keeps the process alive. */
    during(waiting) {
      return untilIdle(waiting, this.lender.times)
    }

    releaser(grant, isAbandoned) {
      const release = super.releaser(grant, isAbandoned)
      release[undelivered] = () => {
        if (this.current !== grant) return
        this.lender.unuse()
        this.end(isAbandoned)
      }
      return release
    }

    /** Does nothing while the lock rests: its holder has released it. */
    release() {
      if (!this.lender.isResting) super.release()
    }

    lockSync() {
      throw blockedError(this)
    }
  }

const classes = new Map()

function timedMutexIn(segment, Base, times) {
  if (!classes.has(Base)) classes.set(Base, timed(Base))
  return new (classes.get(Base))(new TimedMutexLender(segment, times))
}

module.exports = { timedMutexIn }
