'use strict'
// A cyclic barrier of one thread.
//
//   waiting   fewer than `parties` have arrived: they are the queue
//   passed    the last one has arrived: all go, and the next round begins with an empty queue
//   broken    a party gave up: it and every other one rejects, until reset()
//
// Invariant: a broken barrier has no waiter.
const { reasonOf } = require('./abort.js')
const { lockError } = require('./errors.js')
const { readWait } = require('./options.js')
const { LocalLock } = require('./lock.js')
const { checkStack } = require('./stack.js')
const { Waiter } = require('./waiter.js')

class LocalBarrier extends LocalLock {
  #isBroken = false

  constructor(parties) {
    super()
    this.parties = parties
  }

  isBroken() {
    return this.#isBroken
  }

  waiting() {
    return this.queueSize()
  }

  /** Resolves to the number of parties that were missing when this one arrived. */
  wait(options) {
    const limits = readWait(options)
    const { signal, timeout } = limits
    if (signal?.aborted) {
      // An aborted party never arrives, so the others would wait for ever.
      this.break()
      return Promise.reject(reasonOf(signal))
    }
    if (this.#isBroken) return Promise.reject(brokenError(this))
    if (this.#isComplete()) return Promise.resolve(0)
    if (timeout === 0) this.break()
    return this.queueUp(1, limits, Party, this.parties - this.queueSize() - 1)
  }

  waitSync() {
    if (this.#isBroken) throw brokenError(this)
    if (this.#isComplete()) return 0
    const alone = `only this thread can arrive at ${this.title()}: blocking here would deadlock. Wait with a promise`
    throw lockError('ERR_LOCK_DEADLOCK', alone)
  }

  /** Returns whether the arriving party completes the round, and if so lets every waiting party pass. */
  #isComplete() {
    if (this.queueSize() < this.parties - 1) return false
    for (const party of this.#takeAll()) {
      party.resolve(party.missing)
      party.end()
    }
    return true
  }

  /** Takes all parties out of the queue. Checks the stack first, because each of them must be settled. */
  #takeAll() {
    checkStack()
    const parties = this.waiters()
    // Stopping a party's custom signal may run code that aborts another party, or breaks the barrier.
    for (const party of parties) {
      party.markOver()
      this.dequeue(party)
    }
    return parties
  }

  leave(party, reason) {
    this.#end(true, party, reason)
  }

  break() {
    this.#end(true)
  }

  reset() {
    this.#end(false)
  }

  /** Ends the round: the party that gave up, if any, rejects with its own `reason`. */
  #end(isBroken, leaver, reason) {
    const error = brokenError(this)
    const parties = this.#takeAll()
    this.#isBroken = isBroken
    for (const party of parties) party.giveUp(party === leaver ? reason : error)
  }

  admit() {}

  timeoutError(timeout) {
    return missingError(this, timeout)
  }
}
LocalBarrier.prototype.kind = 'barrier'
LocalBarrier.prototype.late = 'was not complete'

function brokenError(barrier) {
  const why = 'since a party gave up, or break() or reset() was called: reset() starts a new round'
  return lockError('ERR_LOCK_BROKEN', `${barrier.title()} is broken, ${why}`)
}

/** The error of a party whose timeout ran out while other parties were missing. */
function missingError(barrier, timeout) {
  const message = `${barrier.title()} was not complete within ${Math.round(timeout)} ms and is broken now: reset() starts a new round`
  return lockError('ERR_LOCK_TIMEOUT', message)
}

class Party extends Waiter {
  constructor(resolve, limits, missing) {
    super(resolve, limits)
    this.missing = missing
  }
}

module.exports = { brokenError, LocalBarrier, missingError }
