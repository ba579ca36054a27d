'use strict'
// Lends a mutex with `maxHold` and `minHold`: each hold ends after `maxHold`, and excludes others for at least `minHold`.
//
//   held      from begin(): the local lock has a holder. After `maxHold` the lender ends the hold
//   resting   from a giveBack() before the end of `minHold`: the local lock is free, but this thread keeps the word until
//             that end
//
// The thread may die before that end. So the lock's slot stores the end, and whether the holder had released. A borrower
// that is told of a death reads the slot, and keeps the word for the remaining time.
const { setTimeout } = require('../core/builtins.js')
const native = require('../addon/load.js')
const { lent, lentAbandoned, notLent } = require('../core/lender.js')
const { longestTimeout } = require('../core/options.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { signalled } = require('./hold_signal.js')
const { TimedHold } = require('./timed_hold.js')

// The machine's monotonic clock: all processes of one boot and one time namespace share it, and a segment lasts for one
// boot.
const { now } = native.clock
/** The offset of `rest` (src/host/layout.h) from the owner's word, in words. */
const restAt = native.layout.host.mutexRest
/** A bit in the slot: the holder had released, so its death is not reported. The bits above hold the time. */
const released = BigInt(native.layout.host.released)

class TimedMutexLender extends HostMutexLender {
  #minHold
  #slot
  /** The current hold, or the last one. A release before its `until` begins a rest. */
  #hold
  /** Whether its minHold is that of a holder that died. */
  #isOfDead = false
  isResting = false

  constructor(segment, times) {
    super(segment)
    this.times = times
    this.#minHold = times.minHold ?? 0
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

  /** Translates `answer` for the local lock: `notLent` when this thread got the word but must let it rest. */
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

  /** A ticket's loan. If it must rest, the local lock gives it back at once: see mayGrant(). */
  admit(borrower, isAbandoned) {
    this.#hold.until = 0
    super.admit(borrower, isAbandoned && this.#look())
  }

  /** After a death: reads the end of the rest. Returns whether the dead holder had not released. */
  #look() {
    if (this.#minHold === 0) return true
    this.#isOfDead = true
    const word = Atomics.load(this.#slot, 0)
    // Limit the time: another process may have corrupted the slot.
    this.#hold.until = Math.min(Number(word >> 1n), now() + this.#minHold)
    return (word & released) === 0n
  }

  /** Stores the end of the rest for the next borrower. */
  #tell(isReleased) {
    const end = BigInt(Math.ceil(this.#hold.until))
    Atomics.store(this.#slot, 0, (end << 1n) | (isReleased ? released : 0n))
  }

  /** Whether the loan need not rest first, for a holder that died. */
  mayGrant() {
    return !this.#isOfDead || this.#hold.until <= now()
  }

  /** Begins a hold. */
  begin() {
    this.#isOfDead = false
    if (this.#minHold > 0) {
      this.#hold.until = now() + this.#minHold
      this.#tell(false)
    }
    this.#hold.begin(() => this.lock.end(true))
  }

  /** The timer of maxHold keeps the event loop alive while waiters of this thread wait for it. */
  keepEnd(isWaitedFor) {
    this.#hold.keepAlive(isWaitedFor)
  }

  /** Ends a loan that no caller received: it begins no rest. */
  unuse() {
    this.#hold.until = 0
    Atomics.store(this.#slot, 0, 0n)
  }

  /** Each hold has its own times, so each needs its own loan. */
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

  #rest(isAbandoned) {
    this.isResting = true
    // Otherwise the slot already says that a holder died without a release.
    if (!isAbandoned) this.#tell(true)
    this.#wait(isAbandoned)
  }

  #wait(isAbandoned) {
    // The end may have come since the last look at the clock.
    const left = Math.max(0, Math.ceil(this.#hold.until - now()))
    // Only waiters keep the event loop alive. If the thread ends, the next borrower reads the slot.
    setTimeout(() => this.#wake(isAbandoned), Math.min(left, longestTimeout)).unref()
  }

  #wake(isAbandoned) {
    if (this.#hold.until > now()) {
      this.#wait(isAbandoned)
      return
    }
    this.isResting = false
    this.#tell(false)
    const completions = super.giveBack(isAbandoned)
    if (completions !== undefined) this.deliver(completions)
    if (this.lock.idleListener !== null) this.lock.reportIdle()
  }

  addToken(release, isGood) {
    return signalled(super.addToken(release, isGood), this.#hold, isGood)
  }
}

module.exports = { TimedMutexLender }
