'use strict'
// A counting semaphore with weights and priorities that threads share (src/locks/weighted_semaphore.h).
const { reasonOf } = require('../core/abort.js')
const { kindOf, SharedLock } = require('./shared_lock.js')
const {
  checkedValue,
  checkRoom,
  checkWeight,
  maxValue,
  readAcquireSync,
  readWatch,
  warnOfWeight,
} = require('../core/units.js')
const native = require('../addon/load.js')
const { makeReleaser, undelivered } = require('../core/releaser.js')
const { asTicket } = require('../core/ticket.js')
const { ticketRuns } = require('../core/ticket_runs.js')
const { checkStackToRelease } = require('../core/stack.js')
const { observed } = require('../core/platform.js')
const { grantedAbandoned, isGranted, takeCompletions, Waiter } = require('./waiters.js')
const { setTraits } = require('../core/waiter.js')

const { valueShift } = native.layout.semaphore

class SharedSemaphore extends SharedLock {
  constructor(value) {
    super(value << valueShift)
  }

  getValue() {
    return this.read() >> valueShift
  }

  /** The value that the semaphore began with. */
  firstValue() {
    return this.idle >> valueShift
  }

  isLocked() {
    return this.getValue() <= 0
  }

  isHeldByCallers() {
    return this.firstValue() > 0
  }

  isOurs() {
    return this.shared.out > 0
  }

  modeOf() {
    return undefined
  }

  isTaken(weight) {
    return this.hasWaiters() || !this.hasRoom(weight)
  }

  /** Counts `weight` units for a new releaser. The result is an argument of endHold(). */
  putOut(weight, abandoned) {
    this.shared.out += weight
    return this.observer === null ? undefined : this.observeGrant(undefined, weight, abandoned)
  }

  endHold(weight, hold) {
    if (this.observer !== null) observed.ended(this.observer, hold, weight)
  }

  /** Returns how many of a grant's units are still taken: release(key) may have put some of them back already. */
  missing(weight) {
    if (this.key === undefined) return weight
    return Math.min(weight, Math.max(0, this.firstValue() - this.getValue()))
  }

  countBack(weight) {
    const { shared } = this
    shared.out = Math.max(0, shared.out - weight)
  }

  acquireUnits({ weight, limits }) {
    return this.enterQueue(weight, limits, Acquirer)
  }

  enterQueue(weight, limits, Kind) {
    if (weight > this.firstValue()) this.warnOfWeight(weight, limits)
    return super.enterQueue(weight, limits, Kind)
  }

  /** Warns of too large a weight. A semaphore that began without units is meant to be raised, so it does not warn. */
  warnOfWeight(weight, limits) {
    if (this.firstValue() < 1) return
    this.noteFree(this.getValue())
    const most = this.most()
    if (weight > most) warnOfWeight(this, weight, most, limits)
  }

  /** The most units that this thread knows of, free and taken. Another thread may have raised the value unnoticed. */
  most() {
    return Math.max(this.firstValue(), this.shared.most)
  }

  /** Updates most() when `value` units are free, or about to be. */
  noteFree(value) {
    const { shared } = this
    shared.most = Math.max(shared.most, value + shared.out)
  }

  tryAcquire(weight = 1) {
    checkWeight(weight)
    const outcome = this.tryEnter(weight)
    return isGranted(outcome) ? ticketOf(this, weight, outcome === grantedAbandoned) : undefined
  }

  acquireSync(weightOrOptions, options) {
    const { weight, limits } = readAcquireSync(weightOrOptions, options)
    if (weight > this.firstValue()) this.warnOfWeight(weight, limits)
    const outcome = this.enterSync(weight, limits)
    return this.givenSync(ticketOf(this, weight, outcome === grantedAbandoned), limits)
  }

  release(weight = 1) {
    checkWeight(weight)
    checkStackToRelease()
    checkRoom(this, this.getValue(), weight)
    if (this.observer !== null) observed.endedOldest(this.observer, weight)
    const { shared } = this
    // The rest are units of other threads, or new ones.
    if (weight > shared.out) shared.most = Math.min(maxValue, this.most() + weight - shared.out)
    this.countBack(weight)
    this.dispatch(this.kind.native.release(this.wordIndex, weight))
  }

  /**
   * Puts back the units of a releaser, as many as fit: setValue() may have left no room for all. With `isAbandoned` the
   * next grant reports the death that this one reported to no caller.
   */
  giveBack(units, isAbandoned) {
    const { abandon } = this.kind.native
    this.dispatch(isAbandoned ? abandon(this.wordIndex, units) : this.putBack(units))
  }

  putBack(units) {
    const { release, setValue } = this.kind.native
    try {
      return release(this.wordIndex, units)
    } catch (error) {
      if (error.code !== 'ERR_LOCK_RANGE') throw error
    }
    // Make room, so that C++ no longer counts this thread as the holder of these units.
    this.dispatch(setValue(this.wordIndex, maxValue - units))
    return this.putBack(units)
  }

  setValue(value) {
    checkedValue(value)
    checkStackToRelease()
    if (this.observer !== null) observed.endedOldest(this.observer, 0)
    this.noteFree(value)
    this.dispatch(this.kind.native.setValue(this.wordIndex, value))
  }

  dispatch(count) {
    try {
      if (count > 0) this.admitAll(count)
    } finally {
      this.changed()
    }
  }

  /** Admits waiters one by one, each with the value before its own grant. */
  admitAll(count) {
    const admitted = []
    const note = (waiter, abandoned) => {
      if (waiter.lock === this) admitted.push({ waiter, abandoned })
      else waiter.lock.admit(waiter, abandoned)
    }
    takeCompletions(count, note)
    let value = this.getValue()
    for (const { waiter } of admitted) value += waiter.weight
    for (const { waiter, abandoned } of admitted) {
      this.admit(waiter, abandoned, value)
      value -= waiter.weight
    }
  }

  admit(waiter, abandoned, before = this.getValue() + waiter.weight) {
    if (this.observer !== null) this.observeAdmission(waiter)
    waiter.resolve(waiter.constructor.value(this, waiter.weight, abandoned, before))
  }

  hasRoom(weight) {
    return this.getValue() >= weight
  }

  /** Waits in the queue, and releases at once when it is granted. */
  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readWatch(weightOrOptions, priorityOrOptions)
    if (limits.signal?.aborted) return Promise.reject(reasonOf(limits.signal))
    if (this.hasRoom(weight) && !this.hasWaiters()) return Promise.resolve()
    return this.enterQueue(weight, limits, Passer)
  }
}

Object.assign(SharedSemaphore.prototype, ticketRuns)
SharedSemaphore.prototype.argument = { name: 'the value', of: (word) => word >> valueShift }
SharedSemaphore.prototype.kind = kindOf('semaphore', 'semaphore')

class Acquirer extends Waiter {
  static value(lock, weight, abandoned, before) {
    return ticketOf(lock, weight, abandoned, before)
  }
}

/** Rejects in the same microtask as async-mutex, because programs rely on that order. */
setTraits(Acquirer, { mode: undefined, rejectsAtOnce: true })

/** The passers that have been granted a lock in this turn. */
let passing = []

/**
 * The waiter of waitForUnlock(), which releases in the turn of the event loop in which it is granted. C++ reports no
 * death to a passer, but to the next holder that keeps the lock.
 */
class Passer extends Waiter {
  /**
   * Puts the units back. That may admit the next passer, so a loop does it for one after the other: a long queue of
   * passers must not recurse.
   */
  static value(lock, weight) {
    const isFirst = passing.length === 0
    passing.push({ lock, weight })
    if (!isFirst) return
    try {
      for (const one of passing) one.lock.dispatch(one.lock.putBack(one.weight))
    } finally {
      passing = []
    }
  }

  count(change) {
    super.count(change)
    this.lock.shared.passing += change
  }
}
setTraits(Passer, { mode: undefined, isToStay: true, isPassing: true })

function ticketOf(lock, weight, abandoned, before = lock.getValue() + weight) {
  if (before > lock.shared.most) lock.noteFree(before)
  return asTicket(before, releaser(lock, weight, abandoned))
}

function releaser(lock, weight, abandoned) {
  const { generation } = lock
  let over = false
  const hold = lock.putOut(weight, abandoned)
  // If the key has been idle since, release(key) has put these units back.
  const isGood = () => !over && lock.generation === generation
  const end = (isAbandoned) => {
    if (!isGood()) return
    checkStackToRelease()
    // The timer of a maxHold does not throw: giveBack() puts back what fits.
    if (!isAbandoned) checkRoom(lock, lock.getValue(), lock.missing(weight))
    over = true
    lock.endHold(weight, hold)
    // The observer's callback may have released the key.
    if (lock.generation !== generation) return
    lock.countBack(weight)
    const back = lock.missing(weight)
    if (back < weight) native.shares.gave(lock.wordIndex, weight - back)
    if (back > 0) lock.giveBack(back, isAbandoned, hold)
    else lock.changed()
  }
  const Releaser = () => end(false)
  if (abandoned) Releaser[undelivered] = () => end(true)
  if (lock.observer !== null) observed.gave(lock.observer, Releaser)
  makeReleaser(Releaser, abandoned)
  if (lock.addToken === null) return Releaser
  return lock.addToken(Releaser, isGood, hold, end)
}

module.exports = { SharedSemaphore }
