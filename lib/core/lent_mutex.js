'use strict'
// A mutex of a wider scope: a local mutex that has to be borrowed (lender.js).
//
//   free       current === 0     not here, and not waited for. The lock may be anywhere
//   borrowing  current === -1    not here; this thread waits for it, by one ticket for its whole queue
//   held       current > 0       here: the number of the grant
//
//   free -> held            acquire, lock, try: the lender lends it at once
//   free -> borrowing       another thread has it
//   borrowing -> held       lent(): the head of the queue is the holder. Where the queue is empty, it is given back
//   held -> held            unlock with waiters, while the lender lets us keep it
//   held -> free, borrowing unlock without waiters; or with waiters, whose ticket is behind those of other threads
//
// Where waiters are `strict` (fairness: 'fifo'), each has a ticket of its own, and the lock is given back each time.
//
// Invariants: 1. while the queue is not empty and the lock is not here, there is a ticket. 2. each loan is given back
// once. 3. a death that the lender tells of is told to the next grant, and to one only.
const { lockError } = require('./errors.js')
const { lent, lentAbandoned, refused } = require('./lender.js')
const { free, LocalMutex, nextGrant, Returner } = require('./mutex.js')
const { readWait } = require('./options.js')
const { dressed, unseen } = require('./releaser.js')
const { checkStack, checkStackToRelease } = require('./stack.js')
const { Waiter } = require('./waiter.js')

const borrowing = -1
const none = -1

class LentMutex extends LocalMutex {
  constructor(lender) {
    super()
    this.lender = lender
    lender.lock = this
    /** The ticket of the queue, and the priority that it waits with. */
    this.ticket = none
    this.priority = 0
    /** The tickets of waiters that are strictly first come, first served. */
    this.tickets = null
  }

  /** What it has in common with other threads: its place and its name. */
  get share() {
    return this.lender
  }

  /** The thread that holds it, as an agent of C++. */
  owner() {
    return this.lender.owner()
  }

  mayTake() {
    return this.lender.tryBorrow()
  }

  isHere() {
    return this.current > free
  }

  isFree() {
    return this.current === free
  }

  isLocked() {
    return this.lender.isLent()
  }

  hasRoom() {
    return !this.isLocked()
  }

  enter(limits, Kind) {
    const { signal, timeout, priority } = limits
    if (signal?.aborted) return this.refuse(Kind, 1, signal.reason)
    // What is lent has to find its way to a promise, and a waiter to a ticket.
    checkStack()
    if (this.current === free && (timeout === 0 || this.tickets === null)) {
      const answer = timeout === 0 ? this.lender.borrowNow() : this.lender.borrow(priority)
      if (answer === lent || answer === lentAbandoned) {
        this.current = nextGrant()
        const isAbandoned = answer === lentAbandoned
        const value = Kind.valueOf(this, this.current, isAbandoned)
        const promise = Promise.resolve(value)
        return this.observer === null ? promise : this.begun(value, promise, isAbandoned)
      }
      if (answer !== refused) this.waitsWith(answer, priority)
    }
    return this.queueUp(1, limits, Kind)
  }

  tryLock() {
    if (this.current !== free) return false
    const answer = this.lender.borrowNow()
    if (answer === refused) return false
    this.current = nextGrant()
    if (this.observer !== null) this.begun(undefined, undefined, answer === lentAbandoned)
    return true
  }

  tryAcquire() {
    if (this.current !== free) return undefined
    checkStack()
    const answer = this.lender.borrowNow()
    if (answer === refused) return undefined
    this.current = nextGrant()
    const isAbandoned = answer === lentAbandoned
    const release = this.releaser(this.current, isAbandoned)
    if (this.observer !== null) this.begun(release, undefined, isAbandoned)
    return release
  }

  /** Blocks this thread. Whether the last holder died with it. */
  lockSync(limits) {
    if (this.current === free && this.mayTake()) {
      this.current = nextGrant()
      if (this.observer !== null) this.begun()
      return false
    }
    this.checkNotOurs()
    const isAbandoned =
      this.observer === null
        ? this.block(limits)
        : this.observer.blocks(this, 1, limits, () => this.block(limits))
    this.current = nextGrant()
    if (this.observer !== null) this.observeBlocked(isAbandoned)
    return isAbandoned
  }

  /** What this thread waits for must not depend on this thread. */
  checkNotOurs() {
    if (this.isHere() || this.lender.isOurs()) throw this.heldHere()
    if (this.current !== borrowing && !this.lender.stands()) return
    const ahead = `a promise of this thread waits for ${this.title()}, and could not go on`
    throw lockError('ERR_LOCK_DEADLOCK', ahead)
  }

  block(limits) {
    // What an observer tells of the wait may have changed that.
    if (this.observer !== null) this.checkNotOurs()
    const answer = this.lender.borrowSync(limits)
    if (answer === refused) throw this.timeoutError(limits.timeout)
    return answer === lentAbandoned
  }

  // For an observer, which knows in `admitted` how this thread has blocked.

  isTaken() {
    return true
  }

  modeOf() {
    return 'exclusive'
  }

  /** Unless the lock has been lent to `waiter` at once. */
  observeWait(waiter, promise) {
    if (this.queue.has(waiter)) super.observeWait(waiter, promise)
    else this.observer.gave(undefined, promise)
  }

  observeBlocked(isAbandoned) {
    const { admitted } = this
    this.admitted = null
    this.observer.granted('exclusive', 1, admitted, isAbandoned)
  }

  acquireSync(limits) {
    checkStack()
    const isAbandoned = this.lockSync(limits)
    const release = this.releaser(this.current, isAbandoned)
    if (this.observer !== null) this.observer.gave(release)
    return release
  }

  releaser(grant, isAbandoned) {
    const release = dressed(() => {
      if (this.current === grant) this.unlock()
    }, isAbandoned)
    if (isAbandoned) {
      release[unseen] = () => {
        if (this.current === grant) this.end(true)
      }
    }
    const { lender } = this
    return lender.dress === null ? release : lender.dress(release, () => this.current === grant)
  }

  unlock() {
    if (!this.isHere()) throw this.notHeld()
    this.end(false)
  }

  /** The holder lets go. `isAbandoned`: of a death that it was told of, the next one is. */
  end(isAbandoned) {
    if (this.observer !== null && !this.observeEnd()) return
    const keeps = this.hasQueue() && this.tickets === null && this.lender.mayKeep()
    if (!keeps || !this.handOn(isAbandoned)) this.giveBack(isAbandoned)
  }

  /** The holder is about to let go. Whether it has not done so meanwhile. */
  observeEnd() {
    const { current, observer } = this
    observer.ended(observer.latest, 1)
    return this.current === current
  }

  /** The lock is here: the next waiter holds it. Whether there is one. */
  handOn(isAbandoned) {
    while (this.hasQueue()) {
      const { head } = this.queue
      if (!(head instanceof Passer)) {
        head.enter(this, isAbandoned)
        return true
      }
      head.pass(this)
    }
    return false
  }

  giveBack(isAbandoned) {
    const { lender } = this
    if (this.hasQueue()) checkStackToRelease()
    const completions = lender.giveBack(isAbandoned)
    this.current = free
    try {
      if (this.hasQueue()) this.waitAgain()
    } finally {
      if (completions !== undefined) lender.hear(completions)
    }
    if (this.home !== null) this.rest()
  }

  /** The lender has the lock back, and waiters are left: behind those of other threads. */
  waitAgain() {
    if (this.ticket === none && this.tickets === null) this.borrow(this.queue.head.priority)
    else this.waits()
  }

  /** From the lender: the loan that `ticket` was for. */
  lent(ticket, isAbandoned) {
    if (ticket === this.ticket) this.ticket = none
    else if (this.tickets !== null) this.spend(ticket)
    this.arrives()
    if (!this.handOn(isAbandoned)) this.giveBack(isAbandoned)
  }

  /** The head of the queue goes by `ticket`; the waiter that had it, if another one, has the head's from now on. */
  spend(ticket) {
    const { tickets } = this
    const head = this.hasQueue() ? this.queue.head : null
    const own = tickets.get(head)
    if (own !== ticket) {
      const owner = [...tickets.keys()].find((waiter) => tickets.get(waiter) === ticket)
      // It has left, too late. That of the head is given up when the head leaves the queue.
      if (owner === undefined) return
      tickets.set(owner, own)
    }
    tickets.delete(head)
  }

  /** The lock is here, for a grant that is to have its number. */
  arrives() {
    if (this.current === borrowing) this.lender.keepAlive(false)
    this.current = nextGrant()
  }

  waits() {
    this.current = borrowing
    this.lender.keepAlive(true)
  }

  /** No waiter wants it any more. */
  rests() {
    this.current = free
    this.lender.keepAlive(false)
    if (this.home !== null) this.rest()
  }

  enqueue(waiter) {
    super.enqueue(waiter)
    if (this.tickets !== null) this.borrowFor(waiter)
    else if (this.current === free) this.borrow(waiter.priority)
    else if (this.current === borrowing && waiter.priority > this.priority) this.borrowAnew()
  }

  /** For the queue. */
  borrow(priority) {
    const answer = this.lender.borrow(priority)
    if (answer === lent || answer === lentAbandoned) this.lent(none, answer === lentAbandoned)
    else this.waitsWith(answer, priority)
  }

  waitsWith(ticket, priority) {
    this.ticket = ticket
    this.priority = priority
    if (this.current === free) this.waits()
  }

  /** Another waiter is next: its priority counts among threads. */
  borrowAnew() {
    if (!this.withdraw()) return
    this.borrow(this.queue.head.priority)
    this.lender.catchUp()
  }

  /** The queue's ticket is given up. False where its loan is on the way. */
  withdraw() {
    if (!this.lender.withdraw(this.ticket)) return false
    this.ticket = none
    return true
  }

  /** For a waiter that is strictly first come, first served. */
  borrowFor(waiter) {
    const answer = this.lender.borrow(waiter.priority)
    if (answer === lent || answer === lentAbandoned) {
      this.lent(none, answer === lentAbandoned)
    } else {
      this.tickets.set(waiter, answer)
      if (this.current === free) this.waits()
    }
  }

  /** From now on each waiter has a ticket of its own. */
  beStrict() {
    if (this.tickets !== null) return
    checkStack()
    this.tickets = new Map()
    this.lender.isStrict = true
    const [head, ...others] = this.waiters()
    if (head !== undefined && this.ticket !== none) {
      this.tickets.set(head, this.ticket)
      this.ticket = none
    } else if (head !== undefined) {
      this.borrowFor(head)
    }
    for (const waiter of others) this.borrowFor(waiter)
  }

  dequeue(waiter) {
    super.dequeue(waiter)
    const ticket = this.tickets?.get(waiter)
    if (ticket === undefined) return
    this.tickets.delete(waiter)
    // A loan that is on the way is for the next waiter.
    if (!this.lender.withdraw(ticket)) this.ticket = ticket
  }

  /** A waiter has left. */
  admit() {
    if (this.current === borrowing) {
      if (this.hasQueue()) {
        if (this.tickets === null && this.queue.head.priority < this.priority) this.borrowAnew()
      } else if (this.ticket === none || this.withdraw()) {
        this.rests()
      }
    }
    this.lender.catchUp()
  }

  get isStrict() {
    return this.tickets !== null
  }

  // For conditions (lib/process/condition_core.js), whose waiters stand in the lender's line once they are notified.

  placeForGuests() {
    return this.lender.place
  }

  /** Promises of this thread that wait for it, or will once they are notified. */
  hasWaitersHere() {
    return this.hasQueue() || this.current === borrowing || this.lender.guests > 0
  }

  expectGuests(change) {
    this.lender.guests += change
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

  waitForUnlock(options) {
    const limits = readWait(options)
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    checkStack()
    const isTaken = this.isLocked() || this.hasQueue() || this.lender.queueSize() > 0
    return isTaken ? this.queueUp(1, limits, Passer) : Promise.resolve()
  }

  snapshot() {
    const waiting = this.lender.queueSize() + this.queueSize()
    return this.seen({ locked: this.isLocked(), waiting })
  }

  memory() {
    return this.lender.memory()
  }

  title() {
    return this.lender.title(this)
  }
}

/** waitForUnlock: it comes to the head of the queue, and is gone. */
class Passer extends Waiter {
  pass(mutex) {
    mutex.dequeue(this)
    this.end()
    this.resolve()
  }
}
Passer.prototype.isToStay = true

LentMutex.prototype.admitted = null

module.exports = { LentMutex }
