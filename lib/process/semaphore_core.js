'use strict'
// A counting semaphore for promises, with weights and priorities, that several threads share
// (src/locks/weighted_semaphore.h).
const { Core } = require('./core.js')
const {
  checkedValue,
  checkWeight,
  readAcquire,
  readAcquireSync,
  readWatch,
} = require('../core/units.js')
const { LocalSemaphore } = require('../core/semaphore.js')
const native = require('../load.js')
const { asTicket, makeReleaser, unseen } = require('../core/releaser.js')
const { checkStackToRelease } = require('../core/stack.js')
const { grantedAbandoned, isGranted, takeCompletions, Waiter } = require('./waiters.js')

const valueShift = 2

class SemaphoreCore extends Core {
  /** The word of a lock that is new. */
  static idleWord(value) {
    return value << valueShift
  }

  constructor(value) {
    super(SemaphoreCore.idleWord(value))
    /** How much our releasers will put back. */
    this.out = 0
  }

  getValue() {
    return this.read() >> valueShift
  }

  /** How much less there is than at first. */
  room() {
    return (this.idle >> valueShift) - this.getValue()
  }

  isLocked() {
    return this.getValue() <= 0
  }

  /** Whether this thread has a part in it. */
  isOurs() {
    return this.waitersHere > 0 || this.out > 0
  }

  modeOf() {
    return undefined
  }

  isTaken(weight) {
    return this.hasLine() || !this.hasRoom(weight)
  }

  /** `weight` is out by a new releaser. What it answers, putIn() is told with it. */
  putOut(weight, abandoned) {
    this.out += weight
    return this.observer === null ? undefined : this.observeGrant(undefined, weight, abandoned)
  }

  putIn(weight, hold) {
    if (this.observer !== null) this.observer.ended(hold, weight)
    this.out = Math.max(0, this.out - weight)
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    return this.enterLine(weight, limits, Acquirer)
  }

  tryAcquire(weight = 1) {
    checkWeight(weight)
    const outcome = this.tryEnter(weight)
    return isGranted(outcome) ? ticketOf(this, weight, outcome === grantedAbandoned) : undefined
  }

  /** Blocks this thread. */
  acquireSync(weightOrOptions, options) {
    const { weight, limits } = readAcquireSync(weightOrOptions, options)
    const outcome = this.enterSync(weight, limits)
    return ticketOf(this, weight, outcome === grantedAbandoned)
  }

  release(weight = 1) {
    checkWeight(weight)
    checkStackToRelease()
    if (this.observer !== null) this.observer.endedOldest(weight)
    this.out = Math.max(0, this.out - weight)
    this.putBack(weight)
  }

  putBack(weight) {
    this.inC((place) => this.kind.native.release(place, weight))
  }

  setValue(value) {
    checkedValue(value)
    checkStackToRelease()
    if (this.observer !== null) this.observer.endedOldest(0)
    this.inC((place) => this.kind.native.setValue(place, value))
  }

  /** A change that C++ makes, and that may let others in. */
  inC(change) {
    try {
      this.dispatch(change(this.place))
    } finally {
      this.changed()
    }
  }

  dispatch(count) {
    if (count > 0) this.admitAll(count)
    this.changed()
  }

  /** Admits one after the other, each with the value that it found. */
  admitAll(count) {
    const admitted = []
    const note = (waiter, abandoned) => {
      if (waiter.core === this) admitted.push({ waiter, abandoned })
      else waiter.core.admit(waiter, abandoned)
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

  snapshot() {
    return this.seen({ value: this.getValue(), waiting: this.queueSize() })
  }

  hasRoom(weight) {
    return this.getValue() >= weight
  }

  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readWatch(weightOrOptions, priorityOrOptions)
    return this.passThrough(weight, limits)
  }

  /** Out again, in the same turn. A death that we were told of is for the next one. */
  passNow(weight, abandoned) {
    const { abandon, release } = this.kind.native
    this.dispatch((abandoned ? abandon : release)(this.place, weight))
  }
}

// By acquire() and acquireSync(), as those of a local one.
const { runExclusive, runExclusiveSync } = LocalSemaphore.prototype
Object.assign(SemaphoreCore.prototype, { runExclusive, runExclusiveSync })
SemaphoreCore.prototype.kind = { name: 'semaphore', number: 1, bytes: 8, native: native.semaphore }

class Acquirer extends Waiter {
  // At once, as async-mutex does: its order is a promise, too, to the microtask.
  constructor(core, resolve, limits, reject) {
    super(core, resolve, limits)
    this.reject = reject
  }

  static value(core, weight, abandoned, before) {
    return ticketOf(core, weight, abandoned, before)
  }
}

function ticketOf(core, weight, abandoned, before = core.getValue() + weight) {
  return asTicket(before, releaser(core, weight, abandoned))
}

function releaser(core, weight, abandoned) {
  const { generation } = core
  let over = false
  let isUnseen = false
  const hold = core.putOut(weight, abandoned)
  const release = () => {
    // A key that has been idle since has been released by others: see KeyedSemaphore.release.
    if (over || core.generation !== generation) return
    checkStackToRelease()
    over = true
    core.putIn(weight, hold)
    // Others may have released a part of a key's: it never has more than at first.
    const back = core.key === undefined ? weight : Math.min(weight, Math.max(0, core.room()))
    if (back < weight) native.shares.gave(core.place, weight - back)
    if (isUnseen) core.passNow(back, true)
    else if (back > 0) core.putBack(back)
    else core.changed()
  }
  if (abandoned) {
    release[unseen] = () => {
      isUnseen = true
      release()
    }
  }
  if (core.observer !== null) core.observer.gave(release)
  makeReleaser(release, abandoned)
  if (core.addToken === null) return release
  return core.addToken(release, () => !over && core.generation === generation)
}

module.exports = { SemaphoreCore }
