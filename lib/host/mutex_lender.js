'use strict'
// Lends a mutex to one thread of the machine's processes at a time: src/host/host_mutex.h.
const { bounds } = require('../core/cohort.js')
const { refused } = require('../core/lender.js')
const native = require('../load.js')
const { shareSlotWith } = require('../process/shares.js')
const { line, WordLender } = require('../process/word_lender.js')
const { fenced } = require('./fence.js')

const free = 0
// The bits of src/host/owner_word.h.
const ownerShift = 2
/** Free for the invited head of the queue, which is on its way. */
const invited = line
/** In the high half of the word: a waiter is strictly first come, first served. */
const strict = 1 << 28

class HostMutexLender extends WordLender {
  // Of a slot of a keyed segment, as in a Share.
  pins = 0
  isGone = false
  #segment

  constructor(segment) {
    super(segment.name, segment.held)
    this.#segment = segment
  }

  settleByKey(segment, key) {
    this.settleAt(shareSlotWith(this, segment, key))
  }

  tryBorrow() {
    if (this.#segment.whyGone !== undefined) return false
    const { held } = this
    const word = Atomics.compareExchange(this.words, this.index, free, held)
    return word === free || (word === invited && this.#overtake())
  }

  /** Takes a free word before the invited head of the queue, a waiter of another process or thread. */
  #overtake() {
    const highHalf = Atomics.load(this.words, this.index + 1)
    return (highHalf & strict) === 0 && this.change(invited, this.held | invited)
  }

  borrowSync(limits) {
    const outcome = super.borrowSync(limits)
    // A thread that blocks is let go before its time, too.
    if (outcome === refused && this.#segment.isGone()) throw this.refusal()
    return outcome
  }

  /** Where its files were removed it is lent no more: a process that has come since may hold it. */
  refusal() {
    const segment = this.#segment
    return segment.whyGone === undefined ? undefined : segment.goneError(this.lock.title())
  }

  putBack() {
    return this.change(this.held, free)
  }

  mayKeep() {
    if ((this.word() & line) === 0) return true
    // Asked for each hand-off: a strict waiter of another thread is not in the word.
    const patience = native.hostMutex.patience(this.place)
    if (patience < 0) return false
    const { stay } = this
    if (!stay.isOn) stay.begin(bounds.near.most - patience)
    return stay.mayHandOn()
  }

  /** By another lock of ours: the same file may be open by several paths. */
  stands() {
    return native.hostMutex.stands(this.place) === 1
  }

  look() {
    const seen = native.host.look(this.place)
    seen.waiting = super.look().waiting
    return seen
  }

  addToken(release, isGood) {
    return fenced(release, this.place, isGood)
  }
}
Object.assign(HostMutexLender.prototype, { native: native.hostMutex, ownerShift, isAfar: true })

module.exports = { HostMutexLender }
