'use strict'
// Lends a mutex to one thread of the process at a time. Its word lies in memory that the threads share, its wait
// queue in C++ (src/locks/mutex.h). An uncontended loan and its return are one compare-and-swap each, from here.
const { bounds, Stay } = require('../core/cohort.js')
const { nameOf } = require('../core/keys.js')
const { Lender, lent, refused } = require('../core/lender.js')
const native = require('../load.js')
const { keepAlive } = require('./shares.js')
const {
  agent,
  claimAll,
  gone,
  keepTicket,
  take,
  takeClaimed,
  takeCompletions,
  waiterAt,
} = require('./waiters.js')
const { indexOf, wordsOf } = require('./words.js')

const free = 0
// The bits of src/locks/mutex.h.
const line = 1
const waker = 2
const handOff = 4
const ownerShift = 4
/** This thread has it, and no other waits. */
const held = agent << ownerShift
/** Free for the invited head of the line, or for the first thread to take it. */
const invited = line | waker

const leaves = { left: 0, leftAwake: 1, admitted: 2 }

class MutexLender extends Lender {
  #stay = new Stay(bounds.near)
  /** Our tickets in line. */
  #tickets = 0

  /** `name` where it is shared by that. */
  constructor(place, name) {
    super()
    this.name = name
    this.isStrict = false
    /** Promises of this thread that wait for a condition, and are in this line once they are notified. */
    this.guests = 0
    /** A WeakRef, where there is one: see lib/diagnostics/observe.js. */
    this.observer = undefined
    this.place = place
    this.words = null
    this.index = 0
    if (place !== undefined) this.settleAt(place)
  }

  settleAt(place) {
    this.place = place
    this.words = wordsOf(place)
    this.index = indexOf(place)
  }

  #change(from, to) {
    return Atomics.compareExchange(this.words, this.index, from, to) === from
  }

  #word() {
    return Atomics.load(this.words, this.index)
  }

  tryBorrow() {
    const word = Atomics.compareExchange(this.words, this.index, free, held)
    return word === free || (word === invited && !this.stands() && this.#change(word, held | word))
  }

  borrowNow() {
    if (this.tryBorrow()) return lent
    if (this.isLent() || this.stands()) return refused
    return native.mutex.tryEnter(this.place, 1)
  }

  borrow(priority) {
    const isUsual = priority === 0 && !this.isStrict
    const answer = isUsual
      ? native.mutex.enter(this.place, 1)
      : native.mutex.enter(this.place, 1, priority, +this.isStrict)
    if (answer >= 0) {
      keepTicket(answer, new Borrower(this, answer))
      this.#tickets++
    }
    return answer
  }

  borrowSync({ timeout, priority }) {
    const outcome = native.mutex.enterSync(this.place, 1, timeout, priority, +this.isStrict)
    // Giving up may have let in a promise of ours.
    this.catchUp()
    return outcome
  }

  withdraw(ticket) {
    // Its admission has been read, with others that are heard of first.
    if (waiterAt(ticket)?.lender !== this) return false
    const left = native.mutex.leave(this.place, ticket)
    if (left === leaves.admitted) return false
    this.#tickets--
    if (left === leaves.leftAwake) keepTicket(ticket, gone)
    else take(ticket)
    return true
  }

  /** A ticket is over. */
  arrived(ticket, isAbandoned) {
    this.#tickets--
    this.#stay.begin()
    this.lock.lent(ticket, isAbandoned)
  }

  giveBack(isAbandoned) {
    this.#stay.end()
    if (isAbandoned) return claimAll(native.mutex.abandon(this.place))
    const word = Atomics.compareExchange(this.words, this.index, held, free)
    if (word === held) return undefined
    if (word === (held | invited) && !this.stands() && this.#change(word, invited)) return undefined
    const completions = native.mutex.unlock(this.place)
    if (completions < 0) throw this.lock.notHeld()
    return completions > 0 ? claimAll(completions) : undefined
  }

  hear(completions) {
    takeClaimed(completions)
  }

  catchUp() {
    const completions = native.eventLoop.completions()
    if (completions > 0) takeCompletions(completions)
  }

  mayKeep() {
    const word = this.#word()
    if ((word & line) === 0) return true
    if ((word & handOff) !== 0 || this.stands()) return false
    // Of a loan without a ticket no time was taken: the line knows since when its head waits.
    const stay = this.#stay
    if (!stay.isOn) stay.begin(bounds.near.most - native.mutex.patience(this.place))
    return stay.mayHandOn()
  }

  keepAlive(isWaiting) {
    keepAlive(isWaiting ? +1 : -1)
  }

  /** Whether a waiter of this thread stands in line that has been notified of a condition. */
  stands() {
    return this.guests > 0 && native.mutex.stands(this.place) === 1
  }

  owner() {
    return this.#word() >>> ownerShift
  }

  isLent() {
    return this.owner() !== 0
  }

  isOurs() {
    return this.owner() === agent
  }

  queueSize() {
    return (this.#word() & line) === 0 ? 0 : native.mutex.queueSize(this.place) - this.#tickets
  }

  memory() {
    if (this.name === undefined) return this.words
    throw new TypeError(`${this.lock.title()} is shared by its name: it has no buffer`)
  }

  title({ kind, home, key }) {
    if (home === null)
      return this.name === undefined ? `the ${kind}` : `the ${kind} ${nameOf(this.name)}`
    return `the ${kind} of key ${nameOf(key)} in ${nameOf(home.name)}`
  }
}

/** A ticket in line, among the waiters of this thread (waiters.js). */
class Borrower {
  constructor(lender, ticket) {
    this.core = this
    this.lender = lender
    this.ticket = ticket
    this.how = null
  }

  // What a core does for its waiters.

  began() {}
  end() {}

  admit(_, isAbandoned) {
    this.lender.arrived(this.ticket, isAbandoned)
  }

  settle(ticket) {
    return native.mutex.settle(this.lender.place, ticket)
  }

  answered() {
    this.lender.catchUp()
  }
}

module.exports = { MutexLender }
