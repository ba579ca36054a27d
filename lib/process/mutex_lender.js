'use strict'
// Lends a mutex to one thread of the process at a time: src/locks/mutex.h.
const { bounds } = require('../core/cohort.js')
const native = require('../load.js')
const { placeOfKey } = require('./shares.js')
const { agent } = require('./waiters.js')
const { line, WordLender } = require('./word_lender.js')

/** LockKind of src/locks/lock_table.h. */
const lockKind = 0
const free = 0
// The bits of src/locks/mutex.h.
const waker = 2
const handOff = 4
const ownerShift = 4
/** Free for the invited head of the line, or for the first thread to take it. */
const invited = line | waker

class MutexLender extends WordLender {
  /** Promises of this thread that wait for a condition, and are in this line once they are notified. */
  conditionWaiters = 0

  constructor(name) {
    super(name, agent << ownerShift)
  }

  settleByKey(table, key) {
    this.settleAt(placeOfKey(table, key, lockKind, free))
  }

  tryBorrow() {
    const { held } = this
    const word = Atomics.compareExchange(this.words, this.index, free, held)
    return word === free || (word === invited && !this.stands() && this.change(word, held | word))
  }

  putBack() {
    const { held } = this
    const word = Atomics.compareExchange(this.words, this.index, held, free)
    return (
      word === held || (word === (held | invited) && !this.stands() && this.change(word, invited))
    )
  }

  mayKeep() {
    // Asked for each hand-off, and plainly: a queue that it sees a turn later is given the lock a turn later.
    const word = this.words[this.index]
    if ((word & line) === 0) return true
    if ((word & handOff) !== 0 || this.stands()) return false
    // Of a loan without a ticket no time was taken: the line knows since when its head waits.
    const { stay } = this
    if (!stay.isOn) stay.begin(bounds.near.most - native.mutex.patience(this.place))
    return stay.mayHandOn()
  }

  /** A condition waiter that has been notified. */
  stands() {
    return this.conditionWaiters > 0 && native.mutex.stands(this.place) === 1
  }
}
Object.assign(MutexLender.prototype, { native: native.mutex, ownerShift })

module.exports = { lockKind, MutexLender }
