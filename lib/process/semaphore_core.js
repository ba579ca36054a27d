'use strict'
// A counting semaphore for promises, with weights and priorities. JavaScript takes from the value
// and puts back while nobody waits (see src/locks/weighted_semaphore.h); C++ does all else.
const { Core } = require('./core.js')
const {
  checkedValue,
  checkWeight,
  maxValue,
  readAcquire,
  readAcquireSync,
} = require('../core/units.js')
const { lockError } = require('../core/errors.js')
const native = require('../load.js')
const { checkCallback, readWait } = require('../core/options.js')
const { asTicket, dressed, unseen } = require('../core/releaser.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { grantedAbandoned, isGranted, takeCompletions, Waiter } = require('./waiters.js')

const valueShift = 2
const notTaken = -1

class SemaphoreCore extends Core {
  constructor(value) {
    super(checkedValue(value) << valueShift)
    /** Its word when nobody has taken anything. */
    this.idle = this.word
    /** How much our releasers will put back. */
    this.out = 0
  }

  beginnings() {
    return [this.word >> valueShift]
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

  /** For a shared one: whether this thread has a part in it. */
  isOurs() {
    return this.share.waiting > 0 || this.out > 0
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

  /** The value before `weight` was taken from it, or notTaken: too little, or somebody waits. */
  take(weight) {
    if (this.words !== null) return notTaken
    const before = this.word >> valueShift
    if (before < weight) return notTaken
    this.word = (before - weight) << valueShift
    return before
  }

  /** A ticket where take() succeeds. */
  takeNow(weight) {
    checkStack()
    const before = this.take(weight)
    return before === notTaken ? undefined : asTicket(before, releaser(this, weight))
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    if (limits === readWait(undefined)) {
      const ticket = this.takeNow(weight)
      if (ticket !== undefined) return this.given(Promise.resolve(ticket))
    }
    return this.enterLine(weight, limits, Acquirer)
  }

  tryAcquire(weight = 1) {
    checkWeight(weight)
    const ticket = this.takeNow(weight)
    if (ticket !== undefined || this.share === null) return ticket
    const outcome = this.tryEnter(weight)
    return isGranted(outcome) ? ticketOf(this, weight, outcome === grantedAbandoned) : undefined
  }

  /** Blocks this thread. */
  acquireSync(weightOrOptions, options) {
    const { weight, limits } = readAcquireSync(weightOrOptions, options)
    const now = this.takeNow(weight)
    if (now !== undefined) return now
    if (this.share === null) {
      const alone = `only this thread could release ${this.title()}, and it would wait for itself`
      throw lockError('ERR_LOCK_DEADLOCK', alone)
    }
    const outcome = this.enterSync(weight, limits)
    return ticketOf(this, weight, outcome === grantedAbandoned)
  }

  runExclusiveSync(callback, weight, options) {
    checkCallback(callback)
    const [before, release] = this.acquireSync(weight, options)
    try {
      return callback(before)
    } finally {
      release()
    }
  }

  async runExclusive(callback, weight, options) {
    checkCallback(callback)
    const [before, release] = await this.acquire(weight, options)
    try {
      return await callback(before)
    } finally {
      release()
    }
  }

  release(weight = 1) {
    checkWeight(weight)
    checkStackToRelease()
    if (this.observer !== null) this.observer.endedOldest(weight)
    this.out = Math.max(0, this.out - weight)
    this.putBack(weight)
  }

  putBack(weight) {
    if (this.words === null && this.getValue() <= maxValue - weight) {
      this.word += weight << valueShift
      if (this.watchers !== null) this.tell(this.getValue(), undefined)
      if (this.home !== null) this.rest()
    } else {
      this.inC((place) => this.kind.native.release(place, weight))
    }
  }

  setValue(value) {
    checkedValue(value)
    checkStackToRelease()
    if (this.observer !== null) this.observer.endedOldest(0)
    this.inC((place) => this.kind.native.setValue(place, value))
  }

  /** A change that C++ makes, and that may let others in. */
  inC(change) {
    this.show()
    try {
      this.dispatch(change(this.place))
    } finally {
      this.calm()
    }
  }

  /** Admits one after the other, each with the value that it found. */
  dispatch(count) {
    const admitted = []
    const note = (waiter, abandoned) => {
      if (waiter.core === this) admitted.push({ waiter, abandoned })
      else waiter.core.admit(waiter, abandoned)
    }
    if (count > 0) takeCompletions(count, note)
    let value = this.getValue()
    for (const { waiter } of admitted) value += waiter.weight
    for (const { waiter, abandoned } of admitted) {
      if (this.watchers !== null) this.tell(value, waiter.priority)
      this.admit(waiter, abandoned, value)
      value -= waiter.weight
    }
    if (this.watchers !== null) this.tell(value, this.topPriority())
    this.calm()
  }

  admit(waiter, abandoned, before = this.getValue() + waiter.weight) {
    if (this.observer !== null) this.observeAdmission(waiter, abandoned)
    waiter.resolve(waiter.constructor.value(this, waiter.weight, abandoned, before))
  }

  snapshot() {
    return this.seen({ value: this.getValue(), waiting: this.queueSize() })
  }

  hasRoom(weight) {
    return this.getValue() >= weight
  }

  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    return this.watch(weight, limits)
  }

  /** waitForUnlock where other threads may release: through the line, without a stop. */
  passThrough(weight, limits) {
    if (this.hasRoom(weight) && !this.hasLine()) return Promise.resolve()
    return this.enterLine(weight, limits, Passer)
  }

  /** Out again, in the same turn. A death that we were told of is for the next one. */
  passNow(weight, abandoned) {
    const { abandon, release } = this.kind.native
    this.dispatch((abandoned ? abandon : release)(this.place, weight))
  }
}

SemaphoreCore.prototype.kind = { name: 'semaphore', number: 1, bytes: 8, native: native.semaphore }

class Acquirer extends Waiter {
  // At once, as async-mutex does: its order is a promise, too, to the microtask.
  constructor(core, resolve, reject, how) {
    super(core, resolve, reject, how)
    this.reject = reject
  }

  static value(core, weight, abandoned, before) {
    return ticketOf(core, weight, abandoned, before)
  }
}

class Passer extends Waiter {
  static value(core, weight, abandoned) {
    core.pass(weight, abandoned)
  }
}
Passer.prototype.isToStay = true

function ticketOf(core, weight, abandoned, before = core.getValue() + weight) {
  return asTicket(before, releaser(core, weight, abandoned))
}

function releaser(core, weight, abandoned = false) {
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
    const back = core.home === null ? weight : Math.min(weight, Math.max(0, core.room()))
    if (back < weight && core.share !== null) native.shares.gave(core.place, weight - back)
    if (isUnseen) core.passNow(back, true)
    else if (back > 0) core.putBack(back)
    else core.calm()
  }
  if (abandoned) {
    release[unseen] = () => {
      isUnseen = true
      release()
    }
  }
  if (core.observer !== null) core.observer.gave(release)
  if (core.dress === null) return dressed(release, abandoned)
  return core.dress(release, abandoned, () => !over && core.generation === generation)
}

module.exports = { SemaphoreCore }
