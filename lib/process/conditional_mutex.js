'use strict'
// A mutex that the threads of the process share. Its holder may wait for a condition (condition_core.js): once it is
// notified, it stands in the lender's line.
const { borrowing } = require('../core/lent_forms.js')
const { LentMutex, none } = require('../core/lent_mutex.js')
const { free, Returner } = require('../core/mutex.js')

class ConditionalMutex extends LentMutex {
  placeOfWord() {
    return this.lender.place
  }

  /** Promises of this thread that wait for it, or will once they are notified. */
  hasWaitersHere() {
    return this.hasQueue() || this.current === borrowing || this.lender.conditionWaiters > 0
  }

  countConditionWaiters(change) {
    this.lender.conditionWaiters += change
    this.pins += change
  }

  /** A wait has ended in vain: `then` is called when the mutex is held again by that grant. */
  reenter(grant, then) {
    this.enqueue(new Returner(then, null, undefined, grant))
  }

  catchUp() {
    this.lender.catchUp()
  }

  /** The holder waits for a condition, and the lender has the lock back. */
  stepAside() {
    if (this.observer !== null) this.observeEnd()
    this.current = free
    if (this.hasQueue()) this.waitAgain()
  }

  /** That holder was notified, and has the lock again. */
  isBack(grant) {
    this.arrives()
    // One that is left in line would be lent the lock while this thread blocks, and waits for it.
    if (this.ticket !== none) this.withdraw()
    this.current = grant
    if (this.observer !== null) this.begun()
  }
}

module.exports = { ConditionalMutex }
