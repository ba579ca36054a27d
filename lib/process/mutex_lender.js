'use strict'
// Lends a mutex to one thread of the process at a time: src/locks/mutex.h.
const { bounds } = require('../core/cohort.js')
const native = require('../addon/load.js')
const { indexOfKey } = require('./shares.js')
const { tickets } = require('./tickets.js')
const { agent, takeCompletions } = require('./waiters.js')
const { WordLender } = require('./word_lender.js')
const { queued } = require('./words.js')

const lockKind = native.layout.lockKinds.mutex
const free = 0
// See src/locks/mutex.h.
const { waker, handOff, ownerShift } = native.layout.mutex
/** The word is free. The head of the queue is invited, but any thread may take the word first. */
const invited = queued | waker

class MutexLender extends WordLender {
  /** How many promises of this thread wait for a condition. C++ moves notified ones to the queue of this mutex. */
  conditionWaiters = 0

  constructor(name) {
    super(name, agent << ownerShift)
  }

  attachToKey(table, key) {
    this.attachAt(indexOfKey(table, key, lockKind, free))
  }

  tryBorrow() {
    const { held } = this
    const word = Atomics.compareExchange(this.words, this.index, free, held)
    return (
      word === free ||
      (word === invited && !this.isQueuedElsewhere() && this.change(word, held | word))
    )
  }

  putBack() {
    const { held } = this
    const word = Atomics.compareExchange(this.words, this.index, held, free)
    return (
      word === held ||
      (word === (held | invited) && !this.isQueuedElsewhere() && this.change(word, invited))
    )
  }

  awaitLoan(ticket) {
    // If the loan has not been posted, the releasing thread has changed the word and is about to post it.
    while (tickets.at(ticket)?.lock === this) takeCompletions(native.eventLoop.postedCompletions())
  }

  mayKeep() {
    // A plain read is cheap and enough at a hand-off: if it misses a new waiter, that waiter gets the lock one hand-off
    // later.
    const word = this.words[this.index]
    if ((word & queued) === 0) return true
    if ((word & handOff) !== 0 || this.isQueuedElsewhere()) return false
    // If the loan had no ticket, the stay has not begun. The queue knows since when its head waits.
    const { stay } = this
    if (!stay.isOn) stay.begin(bounds.local.most - native.mutex.patience(this.wordIndex))
    return stay.mayHandOn()
  }

  /** Whether a condition waiter of this thread has been notified, and so is in the queue of the mutex. */
  isQueuedElsewhere() {
    return this.conditionWaiters > 0 && native.mutex.isQueued(this.wordIndex) === 1
  }
}
Object.assign(MutexLender.prototype, { native: native.mutex, ownerShift })

module.exports = { lockKind, MutexLender }
