'use strict'
// Lends a mutex whose word JavaScript can access and whose wait queue is in C++. An uncontended loan, and its return,
// is one compare-and-swap in JavaScript. Derived classes define the bits of their words.
const { bounds, Stay } = require('../core/cohort.js')
const { Lender, lent, notLent } = require('../core/lender.js')
const native = require('../addon/load.js')
const { keepAlive } = require('./keep_alive.js')
const { tickets } = require('./tickets.js')
const { claimAll, takeClaimed, takeCompletions } = require('./waiters.js')
const { offsetOf, queued, wordsOf } = require('./words.js')

const { leaves } = native.layout

class WordLender extends Lender {
  stay = new Stay(bounds.local)
  isStrict = false
  /** With diagnostics: a WeakRef to the observer (lib/diagnostics/observe.js). */
  observer = undefined
  wordIndex = undefined
  words = null
  index = 0
  /** The number of this lender's queued tickets. */
  #tickets = 0

  /**
   * `name` is undefined unless threads share the lock by name. `held` is the value of the word while this thread has
   * the lock and no other thread waits.
   */
  constructor(name, held) {
    super()
    this.name = name
    this.held = held
  }

  attachAt(wordIndex) {
    this.wordIndex = wordIndex
    this.words = wordsOf(wordIndex)
    this.index = offsetOf(wordIndex)
  }

  /** Called by shared_key_map.js. Does nothing: this lender has one lock, and needs no list of listeners. */
  unlisten() {}

  change(from, to) {
    return Atomics.compareExchange(this.words, this.index, from, to) === from
  }

  word() {
    return Atomics.load(this.words, this.index)
  }

  borrowNow() {
    if (this.tryBorrow()) return lent
    this.#checkLends()
    if (this.isLent() || this.isQueuedElsewhere()) return notLent
    return this.native.tryEnter(this.wordIndex, 1)
  }

  borrow(priority) {
    const isUsual = priority === 0 && !this.isStrict
    const answer = isUsual
      ? this.native.enter(this.wordIndex, 1)
      : this.native.enter(this.wordIndex, 1, priority, +this.isStrict)
    if (answer >= 0) {
      tickets.keep(answer, new Borrower(this, answer))
      this.#tickets++
    }
    return answer
  }

  borrowSync({ timeout, priority }) {
    this.#checkLends()
    const outcome = this.native.enterSync(this.wordIndex, 1, timeout, priority, +this.isStrict)
    // Giving up may have admitted a promise of this thread.
    this.catchUp()
    return outcome
  }

  #checkLends() {
    const refusal = this.refusal()
    if (refusal !== undefined) throw refusal
  }

  withdraw(ticket) {
    // The loan's completion has been read, and will be handled after others.
    if (tickets.at(ticket)?.lock !== this) return false
    const left = this.native.leave(this.wordIndex, ticket)
    if (left === leaves.admitted) return false
    this.#tickets--
    tickets.leave(ticket, left)
    return true
  }

  giveBack(isAbandoned) {
    this.stay.end()
    if (isAbandoned || this.isDeathUndelivered) return this.#abandon()
    return this.putBack() ? undefined : this.#putBackToQueue()
  }

  #abandon() {
    const completions = this.native.abandon(this.wordIndex)
    this.isDeathUndelivered = false
    return claimAll(completions)
  }

  #putBackToQueue() {
    const completions = this.native.unlock(this.wordIndex)
    if (completions < 0) throw this.lock.notHeld()
    return completions > 0 ? claimAll(completions) : undefined
  }

  deliver(completions) {
    takeClaimed(completions)
  }

  catchUp() {
    const completions = native.eventLoop.completions()
    if (completions > 0) takeCompletions(completions)
  }

  keepAlive(isWaiting) {
    keepAlive.count(isWaiting ? +1 : -1, this.isHost)
  }

  owner() {
    return this.word() >>> this.ownerShift
  }

  isLent() {
    return this.owner() !== 0
  }

  isOurs() {
    return this.owner() === this.held >>> this.ownerShift
  }

  queueSize() {
    return (this.word() & queued) === 0 ? 0 : this.native.queueSize(this.wordIndex) - this.#tickets
  }

  // waiters.js calls these methods as those of a lock.

  began() {}

  /** Delivers the loan for a ticket to the local lock. */
  admit({ ticket }, isAbandoned) {
    this.#tickets--
    this.stay.begin()
    this.lock.lent(ticket, isAbandoned)
  }

  resume(ticket) {
    return this.native.resume(this.wordIndex, ticket)
  }

  answered() {
    this.catchUp()
  }
}
/** Whether processes share the mutex, not only threads. */
WordLender.prototype.isHost = false

/** Stands for a lender's queued ticket among the waiters of this thread (tickets.js). */
class Borrower {
  constructor(lender, ticket) {
    this.lock = lender
    this.ticket = ticket
  }

  end() {}
}

module.exports = { WordLender }
