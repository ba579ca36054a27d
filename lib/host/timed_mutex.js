'use strict'
// A lent mutex whose lender enforces `minHold` and `maxHold`: timed_lender.js.
const { undelivered } = require('../core/releaser.js')
const { blockedError, untilIdle } = require('./timed_hold.js')
const { TimedMutexLender } = require('./timed_lender.js')

/** Derives from `Base`, a kind of LentMutex, a mutex with hold times. */
const timed = (Base) =>
  class extends Base {
    /** Hands the lock to no waiter while it must rest for a dead holder. */
    handOn(isAbandoned) {
      const { lender } = this
      if (!lender.mayGrant()) return false
      lender.begin()
      if (super.handOn(isAbandoned)) return true
      lender.unuse()
      return false
    }

    keepWhileAwaited() {
      super.keepWhileAwaited()
      this.lender.keepEnd(this.hasQueue())
    }

    onIdle() {
      return this.during(super.onIdle())
    }

    /**
     * Returns `waiting`, which waits for a holder of this thread. Until it settles, a maxHold keeps the process alive.
     */
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

    /** Does nothing while the lock rests, because its holder has already released it. */
    release() {
      if (!this.lender.isResting) super.release()
    }

    lockSync() {
      throw blockedError(this)
    }
  }

const classes = new Map()

function timedMutexIn(segment, Base) {
  if (!classes.has(Base)) classes.set(Base, timed(Base))
  return new (classes.get(Base))(new TimedMutexLender(segment))
}

module.exports = { timedMutexIn }
