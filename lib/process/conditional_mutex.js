'use strict'
// A mutex that the threads of the process share. Its holder may wait for a condition
// (condition.js). Once notified, it queues at the lender.
const { borrowing } = require('../core/lent_forms.js')
const { LentMutex } = require('../core/lent_mutex.js')
const { none } = require('../core/lent_tickets.js')
const { free, Returner } = require('../core/mutex.js')
const { observed } = require('../core/platform.js')

class ConditionalMutex extends LentMutex {
  /** Whether promises of this thread wait for the mutex, or will once they are notified. */
  hasWaitersHere() {
    return this.hasQueue() || this.current === borrowing || this.lender.conditionWaiters > 0
  }

  countConditionWaiters(change) {
    this.lender.conditionWaiters += change
    this.pins += change
  }

  /** A wait for a condition has failed. Calls `then` when `grant` holds the mutex again. */
  reenter(grant, then) {
    this.enqueue(new LentReturner(then, null, grant))
  }

  catchUp() {
    this.lender.catchUp()
  }

  /** The holder waits for a condition, and the lender has the lock back. */
  releaseToWait() {
    this.current = free
    if (this.observer !== null) observed.ended(this.observer, this.observer.latest, 1)
    // The observer's callback may have queued for the mutex, or notified this holder.
    if (this.current === free && this.hasQueue()) this.waitAgain()
  }

  /** The notified holder of `grant` has the lock again. */
  isBack(grant, isAbandoned) {
    if (isAbandoned) this.lender.isDeathUndelivered = true
    this.arrives()
    // A ticket left in the queue would get the lock while this thread blocks and waits for it.
    if (this.ticket !== none) this.withdraw()
    this.current = grant
    if (this.observer !== null) this.begun()
  }
}

/** A holder that has waited for a condition. It goes on with its former grant, so the next grant reports a death. */
class LentReturner extends Returner {
  enter(mutex, isAbandoned) {
    if (isAbandoned) mutex.lender.isDeathUndelivered = true
    super.enter(mutex)
  }
}

module.exports = { ConditionalMutex, LentReturner }
