'use strict'
// Lends a mutex with `maxHold` and `minHold`: each hold ends after `maxHold`, and excludes others for at least `minHold`.
//
//   held      from begin(): the local lock has a holder. After `maxHold` the lender ends the hold
//   resting   from a giveBack() before the end of `minHold`: the local lock is free, but this thread keeps the word until
//             that end
//
// The thread may die before that end. So the lock's slot stores the end, and whether the holder had released. A borrower
// that is told of a death reads the slot, and keeps the word for the remaining time.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const native = require('../addon/load.js')
const { lent, lentAbandoned, notLent } = require('../core/lender.js')
const { lostError } = require('../core/caused_errors.js')
const { longestTimeout } = require('../core/options.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { signalled } = require('./hold_signal.js')

// The machine's monotonic clock: all processes of one boot and one time namespace share it, and a segment lasts for one
// boot.
const { now } = native.clock
/** The offset of `rest` (src/host/layout.h) from the owner's word, in words. */
const restAt = native.layout.host.mutexRest
/** A bit in the slot: the holder had released, so its death is not reported. The bits above hold the time. */
const released = BigInt(native.layout.host.released)

class TimedMutexLender extends HostMutexLender {
  #minHold
  #maxHold
  #slot
  /** The end of the current minHold: a release before it begins a rest. */
  #until = 0
  /** Whether that is the minHold of a holder that died. */
  #isOfDead = false
  isResting = false
  /** The timer that ends the hold after maxHold. */
  #timer
  #controller

  constructor(segment, times) {
    super(segment)
    this.times = times
    const { minHold = 0, maxHold = Infinity } = times
    this.#minHold = minHold
    this.#maxHold = maxHold
  }

  attachAt(wordIndex) {
    super.attachAt(wordIndex)
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
    this.#until = 0
    super.admit(borrower, isAbandoned && this.#look())
  }

  /** After a death: reads the end of the rest. Returns whether the dead holder had not released. */
  #look() {
    if (this.#minHold === 0) return true
    this.#isOfDead = true
    const word = Atomics.load(this.#slot, 0)
    // Limit the time: another process may have corrupted the slot.
    this.#until = Math.min(Number(word >> 1n), now() + this.#minHold)
    return (word & released) === 0n
  }

  /** Stores the end of the rest for the next borrower. */
  #tell(isReleased) {
    const end = BigInt(Math.ceil(this.#until))
    Atomics.store(this.#slot, 0, (end << 1n) | (isReleased ? released : 0n))
  }

  /** Whether the loan need not rest first, for a holder that died. */
  mayGrant() {
    return !this.#isOfDead || this.#until <= now()
  }

  /** Begins a hold. */
  begin() {
    clearTimeout(this.#timer)
    this.#controller = undefined
    this.#isOfDead = false
    if (this.#minHold > 0) {
      this.#until = now() + this.#minHold
      this.#tell(false)
    }
    if (this.#maxHold !== Infinity) {
      this.#timer = setTimeout(() => this.#end(), this.#maxHold)
      this.#timer.unref()
    }
  }

  /** The timer of maxHold keeps the event loop alive while waiters of this thread wait for it. */
  keepEnd(isWaitedFor) {
    if (isWaitedFor) this.#timer?.ref()
    else this.#timer?.unref()
  }

  /** Ends a loan that no caller received: it begins no rest. */
  unuse() {
    this.#until = 0
    Atomics.store(this.#slot, 0, 0n)
  }

  signal() {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** The signal of a grant that has ended before a caller asks for the signal. */
  lateSignal() {
    return AbortSignal.abort(lostError(this.lock.title(), 'its grant is over'))
  }

  /** Ends the hold after maxHold; first aborts the holder's signal. */
  #end() {
    const grant = this.lock.grant()
    const why = `it was held for longer than maxHold, ${this.#maxHold} ms`
    this.#controller?.abort(lostError(this.lock.title(), why))
    if (this.lock.grant() === grant) this.lock.end(true)
  }

  /** Each hold has its own times, so each needs its own loan. */
  mayKeep() {
    return false
  }

  giveBack(isAbandoned) {
    clearTimeout(this.#timer)
    if (this.#until > now()) {
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
    const left = Math.max(0, Math.ceil(this.#until - now()))
    // Only waiters keep the event loop alive. If the thread ends, the next borrower reads the slot.
    setTimeout(() => this.#wake(isAbandoned), Math.min(left, longestTimeout)).unref()
  }

  #wake(isAbandoned) {
    if (this.#until > now()) {
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
    return signalled(super.addToken(release, isGood), this, isGood)
  }
}

module.exports = { TimedMutexLender }
