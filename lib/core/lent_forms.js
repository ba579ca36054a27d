'use strict'
// The methods of a lent mutex (lent_mutex.js) that bypass its queue: they take the lock now or not at
// all, or block this thread, which then is a borrower of its own.
const { lockError } = require('./errors.js')
const { lentAbandoned, notLent } = require('./lender.js')
const { free, LocalMutex, nextGrant } = require('./mutex.js')
const { observed } = require('./platform.js')
const { checkStack } = require('./stack.js')

const borrowing = -1

class UnqueuedForms extends LocalMutex {
  constructor(lender) {
    super()
    this.lender = lender
    lender.lock = this
  }

  /** Does nothing: enter() has checked the stack before it drew a ticket. */
  checkWait() {}

  tryLock() {
    if (this.current !== free) return false
    this.checkObserver()
    const answer = this.lender.borrowNow()
    if (answer === notLent) return false
    this.current = nextGrant()
    if (this.observer !== null) this.begun(undefined, undefined, answer === lentAbandoned)
    return true
  }

  tryAcquire() {
    if (this.current !== free) return undefined
    checkStack()
    const answer = this.lender.borrowNow()
    if (answer === notLent) return undefined
    this.current = nextGrant()
    const isAbandoned = answer === lentAbandoned
    const release = this.releaser(this.current, isAbandoned)
    if (this.observer !== null) this.begun(release, undefined, isAbandoned)
    return release
  }

  /** Blocks this thread. Returns whether the last holder died while it held the lock. */
  lockSync(limits) {
    this.checkObserver()
    // The queue is empty but a loan is still on its way, for a waiter that has left.
    if (this.current === borrowing && !this.hasQueue()) this.lender.awaitLoan(this.ticket)
    if (this.current === free && this.mayTake()) {
      this.current = nextGrant()
      if (this.observer !== null) this.observeUnblocked(limits)
      return false
    }
    this.checkNotOurs()
    const isAbandoned =
      this.observer === null
        ? this.block(limits)
        : observed.blocks(this.observer, this, 1, limits, () => this.block(limits))
    this.current = nextGrant()
    if (this.observer !== null) this.observeBlocked(isAbandoned)
    return isAbandoned
  }

  /** Throws if this thread would wait for itself. */
  checkNotOurs() {
    if (this.isHere() || this.lender.isOurs()) throw this.heldHere()
    if (this.current !== borrowing && !this.lender.isQueuedElsewhere()) return
    throw this.awaitedHere()
  }

  awaitedHere() {
    const ahead = `a promise of this thread waits for ${this.title()}: blocking here would deadlock. Wait with a promise`
    return lockError('ERR_LOCK_DEADLOCK', ahead)
  }

  block(limits) {
    // The observer's callback may have acquired the lock or queued for it.
    if (this.observer !== null) this.checkNotOurs()
    const answer = this.lender.borrowSync(limits)
    if (answer === notLent) throw this.timeoutError(limits.timeout)
    return answer === lentAbandoned
  }

  // For an observer, which reads from `admitted` how this thread blocked.

  isTaken() {
    return true
  }

  modeOf() {
    return 'exclusive'
  }

  /** Reports the wait to the observer, unless `waiter` has got the lock at once. */
  observeWait(waiter, promise) {
    if (this.queue.has(waiter)) super.observeWait(waiter, promise)
    else observed.gave(this.observer, undefined, promise)
  }

  observeUnblocked(limits) {
    this.begun()
    observed.blocked(this.observer, limits)
  }

  observeBlocked(isAbandoned) {
    const { admitted } = this
    this.admitted = null
    observed.granted(this.observer, 'exclusive', 1, admitted, isAbandoned)
  }

  acquireSync(limits) {
    checkStack()
    const isAbandoned = this.lockSync(limits)
    const release = this.releaser(this.current, isAbandoned)
    if (this.observer !== null) observed.gave(this.observer, release)
    return release
  }
}

UnqueuedForms.prototype.admitted = null

module.exports = { UnqueuedForms, borrowing }
