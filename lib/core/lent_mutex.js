'use strict'
// A mutex of a wider scope: a local mutex that has to be borrowed (lender.js).
//
//   free       current === 0     not here, and not waited for. The lock may be anywhere
//   borrowing  current === -1    not here; this thread waits for it, by one ticket for its whole queue
//   held       current > 0       here: the number of the grant
//
//   free -> held            acquire, lock, try: the lender lends it at once
//   free -> borrowing       another thread has it
//   borrowing -> held       lent(): the head of the queue becomes the holder; if the queue is empty, give the lock back
//   held -> held            unlock with waiters, while the lender lets this thread keep the lock
//   held -> free, borrowing unlock without waiters; unlock with waiters, whose ticket is behind those of other threads
//
// With fairness: 'fifo' (isStrict) each waiter has a ticket of its own, and each unlock gives the lock back.
//
// Invariants: 1. while the queue is not empty and the lock is not here, there is a ticket. 2. each loan is given back
// once. 3. a death that the lender reports reaches exactly one grant, the next one.
const { reasonOf } = require('./abort.js')
const { borrowing, BorrowingMutex, none } = require('./borrowing_mutex.js')
const { lent, lentAbandoned, notLent } = require('./lender.js')
const { free, nextGrant } = require('./mutex.js')
const { readWait } = require('./options.js')
const { makeReleaser, undelivered } = require('./releaser.js')
const { checkStack, checkStackToRelease } = require('./stack.js')
const { observed } = require('./platform.js')
const { setTraits, Waiter } = require('./waiter.js')

class LentMutex extends BorrowingMutex {
  constructor(lender) {
    super(lender)
    /** The last grant with `abandoned: true`. */
    this.abandonedGrant = none
    /** The number of waiters that wait for the lock to be free, without acquiring it. */
    this.passers = 0
    /** For a lock without a key: the entry by which other objects of this thread find it (../process/mutexes.js). */
    this.entry = null
  }

  /** The part shared with other threads. */
  get shared() {
    return this.lender
  }

  get name() {
    return this.lender.name
  }

  get words() {
    return this.lender.words
  }

  get scope() {
    return this.lender.scope
  }

  /** The thread that holds the lock, as an agent of C++. */
  owner() {
    return this.lender.owner()
  }

  mayTake() {
    return this.lender.tryBorrow()
  }

  isHere() {
    return this.current > free
  }

  isLocked() {
    return this.lender.isLent()
  }

  hasRoom() {
    return !this.isLocked()
  }

  enter(limits, Kind) {
    const { signal, timeout, priority, maxPending } = limits
    if (signal?.aborted) return this.refuse(Kind, 1, reasonOf(signal))
    const refusal = this.lender.refusal()
    if (refusal !== undefined) return this.refuse(Kind, 1, refusal)
    // Check the stack first: a loan must reach its promise, and a waiter must get its ticket.
    checkStack()
    // A caller that may not wait draws no ticket.
    const isNow = timeout === 0 || this.isFull(maxPending)
    if (this.current === free && (isNow || this.tickets === null)) {
      const answer = isNow ? this.lender.borrowNow() : this.lender.borrow(priority)
      if (answer === lent || answer === lentAbandoned) {
        this.current = nextGrant()
        const isAbandoned = answer === lentAbandoned
        const value = Kind.valueOf(this, this.current, isAbandoned)
        const promise = Promise.resolve(value)
        return this.observer === null ? promise : this.begun(value, promise, isAbandoned, limits)
      }
      if (answer !== notLent) this.waitsWith(answer, priority)
    }
    return this.queueUp(1, limits, Kind)
  }

  releaser(grant, isAbandoned) {
    const Releaser = () => {
      if (this.current === grant) this.unlock()
    }
    const release = makeReleaser(Releaser, isAbandoned)
    if (isAbandoned) {
      release[undelivered] = () => {
        if (this.current === grant) this.end(true)
      }
    }
    const { lender } = this
    return lender.addToken === null
      ? release
      : lender.addToken(release, () => this.current === grant)
  }

  grantOf(grant) {
    const told = { abandoned: grant === this.abandonedGrant }
    const { lender } = this
    return lender.addToken === null ? told : lender.addToken(told, () => this.current === grant)
  }

  unlock() {
    if (!this.isHere()) throw this.notHeld()
    this.end(false)
  }

  /** Ends the current grant. With `isAbandoned` it has reported a death to no caller, so the next grant reports it. */
  end(isAbandoned) {
    if (this.holds?.lose(this.current)) return
    if (this.hasQueue() || this.idleListener !== null) checkStackToRelease()
    if (this.observer !== null && !this.observeEnd()) return
    if (this.hasQueue() && this.mayHandOn() && this.handOn(isAbandoned)) return
    this.giveBack(isAbandoned)
  }

  mayHandOn() {
    return this.tickets === null && !this.lender.isDeathUndelivered && this.lender.mayKeep()
  }

  /** Reports the release. Returns false if the observer has released the lock meanwhile. */
  observeEnd() {
    const { current, observer } = this
    checkStack()
    observed.ended(observer, observer.latest, 1)
    return this.current === current
  }

  /** Hands the lock to the next waiter. Returns whether there was one. */
  handOn(isAbandoned) {
    while (this.hasQueue()) {
      const { head } = this.queue
      if (!head.isPassing) {
        head.enter(this, isAbandoned)
        return true
      }
      head.pass(this)
    }
    return false
  }

  giveBack(isAbandoned) {
    const hasQueue = this.hasQueue()
    const completions = this.lender.giveBack(isAbandoned)
    this.current = free
    if (hasQueue || completions !== undefined) this.#tellWaiters(hasQueue, completions)
    if (this.idleListener !== null) this.reportIdle()
  }

  #tellWaiters(hasQueue, completions) {
    try {
      if (hasQueue) this.waitAgain()
    } finally {
      if (completions !== undefined) this.lender.deliver(completions)
    }
  }

  /** Callers of waitForUnlock() do not count. */
  pending() {
    return this.queueSize() - this.passers
  }

  isIdle() {
    return super.isIdle() || (this.key === undefined && this.#isLeftToPassers())
  }

  hasCallers() {
    return !super.isIdle() && !this.#isLeftToPassers()
  }

  #isLeftToPassers() {
    return this.pins === 0 && !this.isHere() && this.hasQueue() && this.pending() === 0
  }

  enqueue(waiter) {
    super.enqueue(waiter)
    if (this.queue.size === 1) this.keepWhileAwaited()
    if (waiter.isPassing) this.passers++
    try {
      if (this.tickets !== null) this.borrow(waiter.priority, waiter)
      else if (this.current === free) this.borrow(waiter.priority)
      else if (this.current === borrowing && waiter.priority > this.priority) this.borrowAnew()
    } catch (error) {
      // There is no memory for a ticket, so this caller does not wait.
      if (this.queue.has(waiter)) this.remove(waiter)
      throw error
    }
  }

  remove(waiter) {
    this.queue.remove(waiter)
    if (this.queue.size === 0) this.keepWhileAwaited()
    if (waiter.isPassing) this.passers--
  }

  /** Keeps the mutex alive while callers wait: once its objects have been collected, only `entry` refers to it. */
  keepWhileAwaited() {
    const { entry } = this
    if (entry !== null) entry.awaited = this.hasQueue() || this.idleListener !== null ? this : null
  }

  onIdle() {
    const idle = super.onIdle()
    this.keepWhileAwaited()
    return idle
  }

  reportIdle() {
    super.reportIdle()
    this.keepWhileAwaited()
  }

  dequeue(waiter) {
    this.remove(waiter)
    if (this.tickets === null) return
    const ticket = this.tickets.take(waiter)
    // If its loan is already on the way, the next waiter gets it.
    if (ticket !== undefined && !this.lender.withdraw(ticket)) this.ticket = ticket
  }

  /** Called when a waiter has left the queue: gives up the ticket, or draws one of the new head's priority. */
  admit() {
    if (this.current === borrowing) {
      if (this.hasQueue()) {
        if (this.tickets === null && this.queue.head.priority < this.priority) this.borrowAnew()
      } else if (this.ticket === none || this.withdraw()) {
        this.stopWaiting()
      }
    }
    this.lender.catchUp()
    if (this.idleListener !== null) this.reportIdle()
  }

  waitForUnlock(options) {
    const limits = readWait(options)
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(reasonOf(signal))
    checkStack()
    const isTaken = this.isLocked() || this.hasQueue() || this.lender.queueSize() > 0
    if (!isTaken) return Promise.resolve()
    const refusal = this.lender.refusal()
    return refusal === undefined ? this.queueUp(1, limits, Passer) : Promise.reject(refusal)
  }

  snapshot() {
    return this.seen(this.lender.look())
  }

  /** Makes the lender find the lock of `key` in `table`. */
  shareByKey(table, key) {
    try {
      this.lender.attachToKey(table, key)
    } catch (error) {
      error.message = `${this.title()}: ${error.message}`
      throw error
    }
  }
}

/** The waiter of waitForUnlock(): at the head of the queue it resolves and leaves at once. */
class Passer extends Waiter {
  pass(mutex) {
    mutex.dequeue(this)
    this.end()
    this.resolve()
  }
}
setTraits(Passer, { isToStay: true, isPassing: true })

module.exports = { LentMutex }
