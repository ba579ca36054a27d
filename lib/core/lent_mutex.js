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
const { lent, lentAbandoned, refused } = require('./lender.js')
const { borrowing, UnqueuedForms } = require('./lent_forms.js')
const { free, nextGrant } = require('./mutex.js')
const { readWait } = require('./options.js')
const { makeReleaser, unseen } = require('./releaser.js')
const { checkStack, checkStackToRelease } = require('./stack.js')
const { StrictTickets } = require('./strict_tickets.js')
const { Waiter } = require('./waiter.js')

const none = -1

class LentMutex extends UnqueuedForms {
  constructor(lender) {
    super(lender)
    /** The ticket of the queue, and the priority that it waits with. */
    this.ticket = none
    this.priority = 0
    /** The ticket that borrowAnew() is about to give up. */
    this.former = none
    /** The last grant that was told of a death. */
    this.abandonedGrant = none
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
    const { signal, timeout, priority, maxPending } = limits
    if (signal?.aborted) return this.refuse(Kind, 1, signal.reason)
    const refusal = this.lender.refusal()
    if (refusal !== undefined) return this.refuse(Kind, 1, refusal)
    // What is lent has to find its way to a promise, and a waiter to a ticket.
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
        return this.observer === null ? promise : this.begun(value, promise, isAbandoned)
      }
      if (answer !== refused) this.waitsWith(answer, priority)
    }
    return this.queueUp(1, limits, Kind)
  }

  releaser(grant, isAbandoned) {
    const release = makeReleaser(() => {
      if (this.current === grant) this.unlock()
    }, isAbandoned)
    if (isAbandoned) {
      release[unseen] = () => {
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

  /** The holder lets go. `isAbandoned`: of a death that it was told of, the next one is. */
  end(isAbandoned) {
    if (this.observer !== null && !this.observeEnd()) return
    if (this.hasQueue() && this.tickets === null && this.lender.mayKeep()) {
      if (this.handOn(isAbandoned)) return
    }
    this.giveBack(isAbandoned)
  }

  /** The holder is about to let go. Whether it has not done so meanwhile. */
  observeEnd() {
    const { current, observer } = this
    observer.ended(observer.latest, 1)
    return this.current === current
  }

  /** The lock is here: the next waiter holds it. Whether there is one. */
  handOn(isAbandoned) {
    const { queue } = this
    while (queue !== null && queue.size > 0) {
      const { head } = queue
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
    if (hasQueue || this.idleListener !== null) checkStackToRelease()
    const completions = this.lender.giveBack(isAbandoned)
    this.current = free
    try {
      if (hasQueue) this.waitAgain()
    } finally {
      if (completions !== undefined) this.lender.hear(completions)
    }
    if (this.idleListener !== null) this.rest()
  }

  /** The lender has the lock back, and waiters are left: behind those of other threads. */
  waitAgain() {
    if (this.ticket === none && this.tickets === null) this.borrowOrEnd()
    else this.waits()
  }

  /** From the lender: the loan that `ticket` was for. */
  lent(ticket, isAbandoned) {
    if (ticket === this.ticket) this.ticket = none
    else if (ticket === this.former) this.former = none
    else if (this.tickets !== null)
      this.tickets.spend(ticket, this.hasQueue() ? this.queue.head : null)
    this.arrives()
    if (!this.handOn(isAbandoned)) this.giveBack(isAbandoned)
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
    if (this.idleListener !== null) this.rest()
  }

  enqueue(waiter) {
    super.enqueue(waiter)
    try {
      if (this.tickets !== null) this.borrow(waiter.priority, waiter)
      else if (this.current === free) this.borrow(waiter.priority)
      else if (this.current === borrowing && waiter.priority > this.priority) this.borrowAnew()
    } catch (error) {
      // Without memory for a ticket it does not wait.
      if (this.queue.has(waiter)) this.queue.remove(waiter)
      throw error
    }
  }

  /** For the queue, or for `waiter`, which is strictly first come, first served. */
  borrow(priority, waiter) {
    this.borrowed(this.lender.borrow(priority), priority, waiter)
  }

  borrowed(answer, priority, waiter) {
    if (answer === lent || answer === lentAbandoned) this.lent(none, answer === lentAbandoned)
    else this.waitsWith(answer, priority, waiter)
  }

  waitsWith(ticket, priority, waiter) {
    if (waiter === undefined) {
      this.ticket = ticket
      this.priority = priority
    } else {
      this.tickets.put(waiter, ticket)
    }
    if (this.current === free) this.waits()
  }

  /**
   * Another waiter is next: its priority counts among threads. The new ticket is drawn before the old one is given up:
   * without any, a process would lose its place among the others.
   */
  borrowAnew() {
    const { ticket, priority } = this
    this.former = ticket
    this.ticket = none
    this.borrowOrEnd()
    const isSpent = this.former === none
    this.former = none
    if (!isSpent && !this.lender.withdraw(ticket)) this.keep(ticket, priority)
    this.lender.catchUp()
  }

  /** The loan of that ticket is on its way. */
  keep(ticket, priority) {
    if (this.ticket !== none && !this.withdraw()) return
    this.ticket = ticket
    this.priority = priority
  }

  /** For the queue, whose waiters end where there is no memory for a ticket. */
  borrowOrEnd() {
    const { priority } = this.queue.head
    let answer
    try {
      answer = this.lender.borrow(priority)
    } catch (error) {
      this.endAll(error)
      return
    }
    this.borrowed(answer, priority)
  }

  /** The queue's ticket is given up. False where its loan is on the way. */
  withdraw() {
    if (!this.lender.withdraw(this.ticket)) return false
    this.ticket = none
    return true
  }

  /** From now on each waiter has a ticket of its own. */
  beStrict() {
    if (this.tickets !== null) return
    checkStack()
    this.tickets = new StrictTickets()
    this.lender.isStrict = true
    const [head, ...others] = this.waiters()
    if (head !== undefined && this.ticket !== none) {
      this.tickets.put(head, this.ticket)
      this.ticket = none
    } else if (head !== undefined) {
      this.borrow(head.priority, head)
    }
    for (const waiter of others) this.borrow(waiter.priority, waiter)
  }

  dequeue(waiter) {
    this.queue.remove(waiter)
    if (this.tickets === null) return
    const ticket = this.tickets.take(waiter)
    // A loan that is on the way is for the next waiter.
    if (ticket !== undefined && !this.lender.withdraw(ticket)) this.ticket = ticket
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

  waitForUnlock(options) {
    const limits = readWait(options)
    const { signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    checkStack()
    const isTaken = this.isLocked() || this.hasQueue() || this.lender.queueSize() > 0
    if (!isTaken) return Promise.resolve()
    const refusal = this.lender.refusal()
    return refusal === undefined ? this.queueUp(1, limits, Passer) : Promise.reject(refusal)
  }

  snapshot() {
    return this.seen(this.lender.look())
  }

  /** Has the lender find the lock of that key in `table`. */
  shareByKey(table, key) {
    try {
      this.lender.settleByKey(table, key)
    } catch (error) {
      error.message = `${this.title()}: ${error.message}`
      throw error
    }
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
Object.assign(Passer.prototype, { isToStay: true, isPassing: true })

module.exports = { LentMutex, none }
