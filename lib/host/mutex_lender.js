'use strict'
// Lends a mutex to one thread of all processes of the machine at a time: src/host/host_mutex.h.
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
/** The word is free, and the invited head of the queue is on its way to it. */
const invited = queued

class HostMutexLender extends WordLender {
  // As in SharedState: how often this thread has pinned the slot of its key.
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
    // When the files are removed, C++ wakes blocked threads as if they had timed out.
    if (outcome === notLent && this.#segment.isGone()) throw this.refusal()
    return outcome
  }

  /**
   * Once its files have been removed the mutex is no longer lent, because processes that start later use new files and
   * may hold it there.
   */
  refusal() {
    const segment = this.#segment
    return segment.whyGone === undefined ? undefined : segment.goneError(this.lock.title())
  }

  putBack() {
    return this.change(this.held, free)
  }

  /** Records that a holder that waited for `condition` holds the mutex again. `isNotified` is false if it gave up. */
  returnedFrom(condition, isNotified) {
    this.returns++
    if (isNotified) {
      this.notifiedBy ??= []
      this.notifiedBy.push(condition)
    }
  }

  /**
   * Ends the holder's notifications, at the end of its hold and not before: if this process dies while the holder acts
   * on a notification, C++ notifies another waiter.
   */
  #endNotifications() {
    for (const condition of this.notifiedBy) condition.returned()
    this.notifiedBy = null
  }

  giveBack(isAbandoned) {
    if (this.notifiedBy !== null) this.#endNotifications()
    return super.giveBack(isAbandoned)
  }

  /** Called at the end of a hold, when waiters of this thread are queued. */
  mayKeep() {
    if (this.notifiedBy !== null) this.#endNotifications()
    if ((this.word() & queued) === 0) return true
    // Ask C++ at each hand-off, because the word does not show whether another thread's waiter is strict.
    const patience = native.hostMutex.patience(this.wordIndex)
    if (patience < 0) return false
    const { stay } = this
    if (!stay.isOn) stay.begin(bounds.local.most - patience)
    return stay.mayHandOn()
  }

  /**
   * Whether this thread queues for the mutex through another lock object. One file may be open under several paths.
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
  // Few mutexes have condition variables. On the prototype these fields cost the others no memory.
  /** How many promises of this thread wait for a condition. */
  conditionWaiters: 0,
  /** How often a holder has acquired the mutex again after it waited for a condition. */
  returns: 0,
  /** The condition variables that have notified the current holder, or null. */
  notifiedBy: null,
})

HostMutexLender.prototype.scope = 'host'

module.exports = { HostMutexLender }
