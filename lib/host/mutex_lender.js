'use strict'
// Lends a mutex to one thread of the machine's processes at a time: src/host/host_mutex.h.
const { bounds } = require('../core/cohort.js')
const { notLent } = require('../core/lender.js')
const native = require('../addon/load.js')
const { shareSlotWith } = require('../process/shares.js')
const { WordLender } = require('../process/word_lender.js')
const { queued } = require('../process/words.js')
const { fenced } = require('./fence.js')
const { look } = require('./look.js')

const free = 0
// See src/host/owner_word.h. `strict` is set in the high half of the word while a waiter with `fairness: 'fifo'` is queued.
const { ownerShift, strictInHighHalf: strict } = native.layout.host
/** Free, and an invited head of the queue is on its way. */
const invited = queued

class HostMutexLender extends WordLender {
  // The pins of a slot in a keyed segment, as in a Share.
  pins = 0
  isGone = false
  #segment

  constructor(segment) {
    super(segment.name, segment.held)
    this.#segment = segment
  }

  attachToKey(segment, key) {
    this.attachAt(shareSlotWith(this, segment, key))
  }

  tryBorrow() {
    if (this.#segment.whyGone !== undefined) return false
    const { held } = this
    const word = Atomics.compareExchange(this.words, this.index, free, held)
    return word === free || (word === invited && this.#overtake())
  }

  /** Takes a free word ahead of the invited waiter of another process or thread. */
  #overtake() {
    const highHalf = Atomics.load(this.words, this.index + 1)
    return (highHalf & strict) === 0 && this.change(invited, this.held | invited)
  }

  borrowSync(limits) {
    const outcome = super.borrowSync(limits)
    // A blocked thread returns early, too, when the files are removed.
    if (outcome === notLent && this.#segment.isGone()) throw this.refusal()
    return outcome
  }

  /**
   * After its files were removed the mutex is lent no more: processes that started later use other
   * files, and may hold the lock.
   */
  refusal() {
    const segment = this.#segment
    return segment.whyGone === undefined ? undefined : segment.goneError(this.lock.title())
  }

  putBack() {
    return this.change(this.held, free)
  }

  /** The loan is for a holder that has waited for `condition`, and was notified or not. */
  returnedFrom(condition, isNotified) {
    this.returns++
    if (isNotified) {
      this.notifiedBy ??= []
      this.notifiedBy.push(condition)
    }
  }

  /**
   * A notification ends with the hold of its waiter. So when this process dies before, which may be while the holder acts
   * on its notification, another waiter is notified.
   */
  #endNotifications() {
    for (const condition of this.notifiedBy) condition.returned()
    this.notifiedBy = null
  }

  giveBack(isAbandoned) {
    if (this.notifiedBy !== null) this.#endNotifications()
    return super.giveBack(isAbandoned)
  }

  /** Called at the end of a hold, while waiters of this thread are queued. */
  mayKeep() {
    if (this.notifiedBy !== null) this.#endNotifications()
    if ((this.word() & queued) === 0) return true
    // Read at each hand-off, because the word does not show whether a waiter of another thread is
    // strict.
    const patience = native.hostMutex.patience(this.wordIndex)
    if (patience < 0) return false
    const { stay } = this
    if (!stay.isOn) stay.begin(bounds.local.most - patience)
    return stay.mayHandOn()
  }

  /**
   * Whether this thread queues for the mutex through another lock object: one file may be open by
   * several paths.
   */
  isQueuedElsewhere() {
    return native.hostMutex.isQueued(this.wordIndex) === 1
  }

  look() {
    return look(this.wordIndex, super.look().waiting)
  }

  addToken(release, isGood) {
    return fenced(release, this.wordIndex, isGood, this)
  }
}
Object.assign(HostMutexLender.prototype, {
  native: native.hostMutex,
  ownerShift,
  isHost: true,
  // Few mutexes have conditions: on the prototype these cost the others no memory.
  /** How often a holder has got the lock back after it waited for a condition. */
  returns: 0,
  /** The conditions whose notifications the current holder got, or null. */
  notifiedBy: null,
})

HostMutexLender.prototype.scope = 'host'

module.exports = { HostMutexLender }
