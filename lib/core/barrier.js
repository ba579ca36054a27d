'use strict'
// A cyclic barrier of one thread.
//
//   waiting   fewer than `parties` have arrived: they are the queue
//   passed    the last one has arrived: all go, and the next round begins with an empty queue
//   broken    a party gave up: it and every other one rejects, until reset()
//
// Invariant: a broken barrier has no waiter.
const { lockError } = require('./errors.js')
const { readWait } = require('./options.js')
const { LocalLock } = require('./lock.js')
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

  /** A promise for how many parties were missing when this one had arrived. */
  wait(options) {
    const limits = readWait(options)
    const { signal, timeout } = limits
    if (signal?.aborted) {
      // The others would wait for one that does not come.
      this.break()
      return Promise.reject(signal.reason)
    }
    if (this.#isBroken) return Promise.reject(brokenError(this))
    if (this.#isComplete()) return Promise.resolve(0)
    if (timeout === 0) this.break()
    return this.queueUp(1, limits, Party, this.parties - this.queueSize() - 1)
  }

  waitSync() {
    if (this.#isBroken) throw brokenError(this)
    if (this.#isComplete()) return 0
    const alone = `only this thread could arrive at ${this.title()}, and it would wait for itself`
    throw lockError('ERR_LOCK_DEADLOCK', alone)
  }

  /** Whether the party that arrives is the last: then all others go. */
  #isComplete() {
    if (this.queueSize() < this.parties - 1) return false
    for (const party of this.waiters()) {
      this.dequeue(party)
      party.resolve(party.missing)
      party.end()
    }
    return true
  }

  leave(party, reason) {
    this.dequeue(party)
    party.end()
    party.reject(reason)
    this.break()
  }

  break() {
    this.#isBroken = true
    this.cancel(brokenError(this))
  }

  reset() {
    this.cancel(brokenError(this))
    this.#isBroken = false
  }

  admit() {}

  timeoutError(timeout) {
    return missingError(this, timeout)
  }
}
LocalBarrier.prototype.kind = 'barrier'

function brokenError(barrier) {
  const why = 'since a party gave up or somebody broke it: reset() starts anew'
  return lockError('ERR_LOCK_BROKEN', `${barrier.title()} is broken, ${why}`)
}

/** Parties were missing when the time was up. */
function missingError(barrier, timeout) {
  const message = `not all have come to ${barrier.title()} within ${timeout} ms: it is broken now`
  return lockError('ERR_LOCK_TIMEOUT', message)
}

class Party extends Waiter {
  constructor(resolve, limits, _reject, missing) {
    super(resolve, limits)
    this.missing = missing
  }
}

module.exports = { brokenError, LocalBarrier, missingError }
