'use strict'
// A mutex that the threads of the process share, whose holder may wait for a condition (condition.js). Once notified,
// the waiter queues at the lender.
const { borrowing, none } = require('../core/borrowing_mutex.js')
const { LentMutex } = require('../core/lent_mutex.js')
const { free, Returner } = require('../core/mutex.js')
const { observed } = require('../core/platform.js')

class ConditionalMutex extends LentMutex {
  /** Whether promises of this thread wait for the mutex, or for a condition and then for the mutex. */
  hasWaitersHere() {
    return this.hasQueue() || this.current === borrowing || this.lender.conditionWaiters > 0
  }

  /** Queues after a failed wait for a condition. Calls `then` when the mutex is held under `grant` again. */
  reenter(grant, then) {
    this.enqueue(new LentReturner(then, null, grant))
  }

  /** Called when the holder waits for a condition and C++ has given the lock back. */
  releaseToWait() {
    this.current = free
    if (this.observer !== null) observed.ended(this.observer, this.observer.latest, 1)
    // The observer's callback may have queued for the mutex, or notified this holder.
    if (this.current === free && this.hasQueue()) this.waitAgain()
  }

  /** Called when the notified waiter holds the mutex again, under `grant`. */
  isBack(grant, isAbandoned) {
    if (isAbandoned) this.lender.isDeathUndelivered = true
    this.arrives()
    // If the ticket stayed in the queue, its loan might arrive while this thread blocks and waits for the lock.
    if (this.ticket !== none) this.withdraw()
    this.current = grant
    if (this.observer !== null) this.begun()
  }
}

/** A holder that waited for a condition. It keeps its old grant, which cannot report a death: the next grant does. */
class LentReturner extends Returner {
  enter(mutex, isAbandoned) {
    if (isAbandoned) mutex.lender.isDeathUndelivered = true
    super.enter(mutex)
  }
}

module.exports = { ConditionalMutex, LentReturner }
