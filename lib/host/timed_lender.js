'use strict'
// Lends a mutex with `maxHold` and `minHold`: each hold ends after `maxHold`, and excludes others for at least `minHold`.
//
//   held      since begin(): the local lock has a holder. After `maxHold` the lender ends the hold
//   resting   after a giveBack() before the end of `minHold`: the local lock is free, but this thread keeps the word until
//             the end of `minHold`
//
// The thread may die while the lock rests. So the lock's slot stores the end of the rest, and whether the holder had
// released. A borrower that learns of a death reads the slot, and keeps the word for the rest of that time.
const native = require('../addon/load.js')
const { lent, lentAbandoned, notLent } = require('../core/lender.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { at, TimedHold } = require('./timed_hold.js')

// The machine's monotonic clock. All processes of one time namespace share it, and a segment never outlasts the boot.
const { now } = native.clock
/** The offset of `rest` (src/host/layout.h) from the owner's word, in words. */
const restAt = native.layout.host.mutexRest
/** The lowest bit in the slot: the holder had released, so its death is not reported. The other bits are the time. */
const released = BigInt(native.layout.host.released)

class TimedMutexLender extends HostMutexLender {
  #minHold
  #slot
  /** The current hold, or the last one. A release before its `until` begins a rest. */
  #hold
  /** Whether `#hold.until` is the end of a dead holder's minHold. */
  #isOfDead = false
  isResting = false

  constructor(segment) {
    super(segment)
    this.times = segment.times
    this.#minHold = this.times.minHold ?? 0
  }

  attachAt(wordIndex) {
    super.attachAt(wordIndex)
    this.#hold ??= new TimedHold(this.lock, this.times)
    const { buffer, byteOffset } = this.words
    this.#slot = new BigInt64Array(buffer, byteOffset + 4 * (this.index + restAt), 1)
  }

  tryBorrow() {
    if (!super.tryBorrow()) return false
    this.begin()
    return true
  }

  borrowNow() {
    return this.#took(super.borrowNow())
  }

  borrow(priority) {
    const answer = this.#took(super.borrow(priority))
    return answer === notLent ? super.borrow(priority) : answer
  }

  /** Returns `answer` for the local lock. Returns `notLent` if this thread has the word but must let it rest first. */
  #took(answer) {
    if (answer !== lent && answer !== lentAbandoned) return answer
    const isAbandoned = answer === lentAbandoned && this.#look()
    if (answer === lentAbandoned && !this.mayGrant()) {
      this.#rest(isAbandoned)
      return notLent
    }
    this.begin()
    return isAbandoned ? lentAbandoned : lent
  }

  /**
   * Delivers the loan for a ticket. If the lock must rest first, the local lock gives it back at once: see mayGrant().
   */
  admit(borrower, isAbandoned) {
    this.#hold.until = 0
    super.admit(borrower, isAbandoned && this.#look())
  }

  /** Reads the end of the rest after a death. Returns true if the dead holder had not released. */
  #look() {
    if (this.#minHold === 0) return true
    this.#isOfDead = true
    const word = Atomics.load(this.#slot, 0)
    // Limit the time, because another process may have corrupted the slot.
    this.#hold.until = Math.min(Number(word >> 1n), now() + this.#minHold)
    return (word & released) === 0n
  }

  /** Stores the end of the rest for the next borrower. */
  #tell(isReleased) {
    const end = BigInt(Math.ceil(this.#hold.until))
    Atomics.store(this.#slot, 0, (end << 1n) | (isReleased ? released : 0n))
  }

  /** Whether the minHold of a dead holder, if there is one, is over. */
  mayGrant() {
    return !this.#isOfDead || this.#hold.until <= now()
  }

  begin() {
    this.#isOfDead = false
    if (this.#minHold > 0) {
      this.#hold.until = now() + this.#minHold
      this.#tell(false)
    }
    this.#hold.begin(() => this.lock.end(true))
    this.keepEnd(this.lock.hasQueue())
  }

  /** Makes the timer of maxHold keep the event loop alive while waiters of this thread wait. */
  keepEnd(isWaitedFor) {
    this.#hold.keepAlive(isWaitedFor)
  }

  /** Ends a hold that no caller has seen, so that no rest follows. */
  unuse() {
    this.#hold.until = 0
    Atomics.store(this.#slot, 0, 0n)
  }

  /** Returns false: each hold has its own times, and so needs its own loan. */
  mayKeep() {
    return false
  }

  giveBack(isAbandoned) {
    this.#hold.stop()
    if (this.#hold.until > now()) {
      this.#rest(isAbandoned)
      return undefined
    }
    return super.giveBack(isAbandoned)
  }

  /** Gives the lock back at the end of the rest. If this thread ends first, the next borrower reads the slot. */
  #rest(isAbandoned) {
    this.isResting = true
    // If the loan is abandoned, the slot already says so.
    if (!isAbandoned) this.#tell(true)
    at(this.#hold.until, () => {
      this.isResting = false
      this.#tell(false)
      const completions = super.giveBack(isAbandoned)
      if (completions !== undefined) this.deliver(completions)
      if (this.lock.idleListener !== null) this.lock.reportIdle()
    })
  }

  addToken(release, isGood) {
    return this.#hold.addSignal(super.addToken(release, isGood), isGood)
  }
}

module.exports = { TimedMutexLender }
