'use strict'
// Lends a mutex whose holds last for `maxHold` at most, and keep all others out for `minHold` at least.
//
//   held      from begin(): the local lock has a holder. After `maxHold` it has none, whatever the holder does
//   resting   from giveBack() before the end of `minHold`: the local lock is free, and this thread keeps the word till then
//
// A thread may die before that end. So the slot of the lock says until when it rests, and whether its holder had let go. A
// borrower that is told of a death looks there, and keeps the word for what is left of the rest.
const { clearTimeout, setTimeout } = require('node:timers')
const { performance } = require('../builtins.js').perf_hooks
const { lent, lentAbandoned, refused } = require('../core/lender.js')
const { lostError } = require('../core/errors.js')
const { longestTimeout } = require('../core/options.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { signalled } = require('./hold_signal.js')

/** Where `rest` of src/host/layout.h lies behind the owner's word, in words. */
const restAt = 18
/** In the slot: the holder had let go, and its death is no news for the next one. The time is in the bits above. */
const released = 1n

// Taken at load: users fake clocks.
const now = performance.now.bind(performance)
/** For what other processes read: in Bun, the monotonic clock of each process begins with it. */
const wallClock = Date.now

class TimedMutexLender extends HostMutexLender {
  #minHold
  #maxHold
  #slot
  /** Until when others are kept out if it is given back now. */
  #until = 0
  isResting = false
  /** Ends a hold. */
  #timer
  #controller

  constructor(segment, times) {
    super(segment)
    this.times = times
    const { minHold = 0, maxHold = Infinity } = times
    this.#minHold = minHold
    this.#maxHold = maxHold
  }

  settleAt(place) {
    super.settleAt(place)
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
    return answer === refused ? super.borrow(priority) : answer
  }

  /** What the local lock is told of `answer`: `refused` where this thread has got what must rest. */
  #took(answer) {
    if (answer !== lent && answer !== lentAbandoned) return answer
    const isAbandoned = answer === lentAbandoned && this.#look()
    if (answer === lentAbandoned && !this.mayGrant()) {
      this.#rest(isAbandoned)
      return refused
    }
    this.begin()
    return isAbandoned ? lentAbandoned : lent
  }

  /** A ticket's loan. Where it must rest, the local lock gives it back at once: see mayGrant(). */
  admit(borrower, isAbandoned) {
    this.#until = 0
    super.admit(borrower, isAbandoned && this.#look())
  }

  /** After a death: until when the lock rests. Whether the dead holder had not let go. */
  #look() {
    if (this.#minHold === 0) return true
    const word = Atomics.load(this.#slot, 0)
    // Any process may write nonsense there.
    this.#until = now() + Math.min(Number(word >> 1n) - wallClock(), this.#minHold)
    return (word & released) === 0n
  }

  /** The same for the next one. */
  #tell(isReleased) {
    const end = wallClock() + Math.ceil(this.#until - now()) + 1
    Atomics.store(this.#slot, 0, (BigInt(end) << 1n) | (isReleased ? released : 0n))
  }

  mayGrant() {
    return this.#until <= now()
  }

  /** There is a holder from now on. */
  begin() {
    clearTimeout(this.#timer)
    this.#controller = undefined
    if (this.#minHold > 0) {
      this.#until = now() + this.#minHold
      this.#tell(false)
    }
    if (this.#maxHold !== Infinity) {
      this.#timer = setTimeout(() => this.#end(), this.#maxHold)
      this.#timer.unref()
    }
  }

  /** The end of a hold keeps the event loop alive while a waiter of this thread waits for that. */
  keepEnd(isWaitedFor) {
    if (isWaitedFor) this.#timer?.ref()
    else this.#timer?.unref()
  }

  /** No caller has had it. */
  unuse() {
    this.#until = 0
    Atomics.store(this.#slot, 0, 0n)
  }

  signal() {
    this.#controller ??= new AbortController()
    return this.#controller.signal
  }

  /** Of a grant that is over, for a caller that asks then only. */
  lateSignal() {
    return AbortSignal.abort(lostError(this.lock.title(), 'its grant is over'))
  }

  /** Its holder hears of that first. */
  #end() {
    const grant = this.lock.grant()
    const why = `it was held for longer than maxHold, ${this.#maxHold} ms`
    this.#controller?.abort(lostError(this.lock.title(), why))
    if (this.lock.grant() === grant) this.lock.end(true)
  }

  /** Each hold has its times, and so a loan of its own. */
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
    // Else the slot says what is true still: a holder died.
    if (!isAbandoned) this.#tell(true)
    this.#wait(isAbandoned)
  }

  #wait(isAbandoned) {
    const left = Math.ceil(this.#until - now())
    // Waiters keep the event loop alive. Without any, the thread may end: the slot tells the next one.
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
    if (completions !== undefined) this.hear(completions)
    if (this.lock.idleListener !== null) this.lock.rest()
  }

  addToken(release, isGood) {
    return signalled(super.addToken(release, isGood), this, isGood)
  }
}

module.exports = { TimedMutexLender }
