'use strict'
// A cyclic barrier that threads share. Parties arrive and give up in C++ (src/locks/barrier.h), where one atomic step
// completes or breaks a round.
const { kindOf, SharedLock } = require('./shared_lock.js')
const { brokenError, missingError } = require('../core/barrier.js')
const native = require('../addon/load.js')
const { readWait } = require('../core/options.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { setTraits, wait } = require('../core/waiter.js')
const { abandonWait, grantedAbandoned, notGranted, Waiter } = require('./waiters.js')

const { broken, missingShift } = native.layout.barrier
const noLimits = readWait()

class SharedBarrier extends SharedLock {
  constructor(parties) {
    super(parties << missingShift)
    this.parties = parties
  }

  isBroken() {
    return (this.read() & broken) !== 0
  }

  waiting() {
    const word = this.read()
    return (word & broken) !== 0 ? 0 : this.parties - (word >>> missingShift)
  }

  wait(options) {
    const limits = readWait(options)
    const refusal = this.refusal(limits.signal)
    if (refusal !== undefined) {
      // A refused party never arrives, so the others would wait for ever.
      this.break()
      return Promise.reject(refusal)
    }
    checkStack()
    const isNow = limits.timeout === 0
    const ticket = this.kind.native.enter(this.wordIndex, this.parties)
    if (ticket >= 0) {
      const missing = this.kind.native.missing(ticket)
      const promise = wait(this, Party, 1, isNow ? noLimits : limits, missing, ticket)
      // A party that may not wait breaks the round, as a party that gives up does.
      if (isNow) abandonWait(ticket, this.timeoutError(0))
      return promise
    }
    this.dispatch(native.eventLoop.completions()) // the parties that arrived before
    return ticket === grantedAbandoned ? Promise.reject(brokenError(this)) : Promise.resolve(0)
  }

  admit(waiter, isBroken) {
    if (isBroken) waiter.reject(brokenError(this))
    else waiter.resolve(waiter.missing)
  }

  waitSync({ timeout }) {
    this.checkRefusal()
    checkStack()
    const outcome = this.kind.native.enterSync(this.wordIndex, this.parties, timeout)
    this.dispatch(native.eventLoop.completions())
    if (outcome === grantedAbandoned) throw brokenError(this)
    if (outcome === notGranted) throw this.timeoutError(timeout)
    return outcome
  }

  break() {
    checkStackToRelease()
    this.dispatch(this.kind.native.break(this.wordIndex))
  }

  reset() {
    checkStackToRelease()
    this.dispatch(this.kind.native.reset(this.wordIndex, this.parties))
  }

  timeoutError(timeout) {
    return missingError(this, timeout)
  }
}
SharedBarrier.prototype.late = 'was not complete'
SharedBarrier.prototype.argument = {
  name: 'the number of parties',
  of: (word) => word >>> missingShift,
}
SharedBarrier.prototype.kind = kindOf('barrier', 'barrier')

class Party extends Waiter {
  constructor(resolve, limits, missing, lock) {
    super(resolve, limits, missing, lock)
    this.missing = missing
  }
}
setTraits(Party, { rejectsAtOnce: true })

module.exports = { SharedBarrier }
