'use strict'
// A counting semaphore of one thread, with weights and priorities, and the semantics of async-mutex's.
//
//   acquire(w)   value - w, if w <= value and no waiter has the same priority or a higher one; else the queue
//   release(w)   value + w; then the head of the queue is admitted as long as its weight fits
//
// Invariant: the head of the queue does not fit, as its weight exceeds the value. It blocks every lighter waiter of the
// same or a lower priority.
const { reasonOf } = require('./abort.js')
const { lockError } = require('./errors.js')
const { localGrant } = require('./releaser.js')
const { localTicket, observeGrant, promisedTicket } = require('./ticket.js')
const { LocalLock } = require('./lock.js')
const { checkCallback } = require('./options.js')
const { run, runSync } = require('./run.js')
const {
  checkedValue,
  checkRoom,
  checkWeight,
  readAcquire,
  readAcquireSync,
  readWatch,
  warnOfWeight,
} = require('./units.js')
const { observed } = require('./platform.js')
const { checkStack, checkStackToRelease } = require('./stack.js')
const { setTraits, Waiter } = require('./waiter.js')

class LocalSemaphore extends LocalLock {
  constructor(value) {
    super()
    this.value = value
    /** The value once every unit has been released. */
    this.whole = value
  }

  getValue() {
    return this.value
  }

  isLocked() {
    return this.value <= 0
  }

  isFree() {
    return this.value === this.whole && !this.hasQueue()
  }

  isHeldByCallers() {
    return this.whole > 0
  }

  hasRoom(weight) {
    return this.value >= weight
  }

  hint(waiter) {
    const { whole } = this
    if (waiter === undefined || whole < 1 || waiter.weight <= whole) return ''
    return `: it has ${whole} units in all; for a priority: { priority: ${waiter.weight} }`
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const isUsual = weightOrOptions === undefined && priorityOrOptions === undefined
    if (isUsual && this.value > 0 && !this.hasQueue()) {
      this.checkObserver()
      return promisedTicket(this)
    }
    return this.acquireUnits(readAcquire(weightOrOptions, priorityOrOptions))
  }

  acquireUnits({ weight, limits }) {
    return this.enter(weight, limits, Acquirer)
  }

  enter(weight, limits, Kind) {
    const { signal } = limits
    if (signal?.aborted) return this.refuse(Kind, weight, reasonOf(signal))
    if (this.value >= weight && this.goesFirst(limits.priority)) {
      this.checkObserver()
      const value = Kind.valueOf(this, weight)
      const promise = Promise.resolve(value)
      this.begin(weight, value, null, promise, limits)
      return promise
    }
    if (weight > this.whole) warnOfWeight(this, weight, this.whole, limits)
    return this.queueUp(weight, limits, Kind)
  }

  tryAcquire(weight = 1) {
    checkWeight(weight)
    checkStack()
    if (this.value < weight || this.hasQueue()) return undefined
    const ticket = Acquirer.valueOf(this, weight)
    this.begin(weight, ticket, null)
    return ticket
  }

  acquireSync(weightOrOptions, options) {
    const { weight } = readAcquireSync(weightOrOptions, options)
    const grant = this.tryAcquire(weight)
    if (grant !== undefined) return grant
    const alone = `only this thread can release ${this.title()}: blocking here would deadlock. Wait with a promise`
    throw lockError('ERR_LOCK_DEADLOCK', alone)
  }

  /** Takes the units for a caller. `waiter` is null if it did not wait. With an observer, `value` is a ticket. */
  begin(weight, value, waiter, promise, limits) {
    this.value -= weight
    if (this.observer !== null) observeGrant(this, weight, value.release, waiter, promise, limits)
  }

  runExclusive(callback, weight, options) {
    try {
      checkCallback(callback, undefined, typeof weight === 'function' ? weight : options)
      return this.runWithUnits(readAcquire(weight, options), callback)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Whether callers need no ticket. An observer keeps its record of a grant in the ticket. */
  get isBare() {
    return this.observer === null
  }

  /** Runs `callback(valueBefore, grant)` while it holds the `asked` units, a result of readAcquire(). */
  async runWithUnits(asked, callback) {
    if (!this.isBare) return run(callback, () => this.acquireUnits(asked))
    const before = await this.enter(asked.weight, asked.limits, Runner)
    if (before === undefined) return undefined
    try {
      return await callback(before, localGrant)
    } finally {
      this.giveBack(asked.weight)
    }
  }

  runExclusiveSync(callback, weight, options) {
    return runSync(callback, () => this.acquireSync(weight, options))
  }

  release(weight = 1) {
    checkWeight(weight)
    this.checkRelease()
    checkRoom(this, this.value, weight)
    if (this.observer !== null) observed.endedOldest(this.observer, weight)
    this.putBack(weight)
  }

  /** Puts units back, and admits waiters. Raises `whole` if release() adds units that no caller had taken. */
  putBack(weight) {
    this.value += weight
    if (this.value > this.whole) this.whole = this.value
    this.admit()
  }

  /** Throws if the stack may be too short for a release. */
  checkRelease() {
    // A queue with priorities checks the stack for a release once more, when a waiter leaves it.
    if (this.observer === null ? this.queue?.others : this.hasQueue()) checkStack()
    else checkStackToRelease()
  }

  /**
   * Returns how many of the `weight` units of a grant are still taken: release(key) may have put some of them back
   * already. Throws if putting them back would exceed the maximum.
   */
  roomFor(weight) {
    const back = this.key === undefined ? weight : Math.min(weight, this.whole - this.value)
    checkRoom(this, this.value, back)
    return back
  }

  /** Ends a grant of `weight` units. */
  giveBack(weight) {
    this.putBack(this.roomFor(weight))
  }

  setValue(value) {
    const next = checkedValue(value)
    this.checkRelease()
    if (this.observer !== null) observed.endedOldest(this.observer, 0)
    this.whole += next - this.value
    this.value = next
    this.admit()
  }

  /** Admits the waiters that fit, tells the watchers, and reports if the semaphore is idle. */
  admit() {
    if (this.watchers !== null || this.hasQueue()) this.admitQueue()
    if (this.idleListener !== null) this.reportIdle()
  }

  /** Admits waiters from the head of the queue as long as they fit, and tells the watchers before each of them. */
  admitQueue() {
    for (;;) {
      const waiter = this.hasQueue() ? this.queue.head : null
      if (this.watchers !== null) {
        this.tell(this.value, waiter?.priority)
        // A custom signal may have ended this wait.
        if (waiter !== null && !this.queue.has(waiter)) continue
      }
      if (waiter === null || waiter.weight > this.value) break
      const value = waiter.constructor.valueOf(this, waiter.weight)
      this.dequeue(waiter)
      this.begin(waiter.weight, value, waiter)
      waiter.resolve(value)
      waiter.end()
    }
  }

  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readWatch(weightOrOptions, priorityOrOptions)
    if (weight > this.whole) warnOfWeight(this, weight, this.whole, limits)
    return this.watch(weight, limits)
  }

  snapshot() {
    return this.seen({ value: this.getValue(), waiting: this.queueSize() })
  }
}

LocalSemaphore.prototype.kind = 'semaphore'

// The promise of each kind of waiter resolves to valueOf(semaphore, weight), or to undefined for `ifAvailable`.

/** A caller that needs no ticket, because it gives the units back itself. */
class Runner extends Waiter {
  static valueOf(lock) {
    return lock.value
  }
}
/** Rejects in the same microtask as async-mutex, because programs rely on that order. */
setTraits(Runner, { mode: undefined, rejectsAtOnce: true })

/** A call of a function of limit(). Without a reject function it has 40 bytes less. */
class Call extends Runner {}
setTraits(Call, { rejectsAtOnce: false })

class Acquirer extends Runner {
  static valueOf(lock, weight) {
    return localTicket(lock, weight)
  }
}

module.exports = { Acquirer, Call, LocalSemaphore }
