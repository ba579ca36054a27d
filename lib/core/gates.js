'use strict'
// Events and latches of one thread: a waiter passes at once, or waits in the queue until it may.
//
//   auto-reset event     set: the next waiter passes, and it is clear again. signal() admits one waiter, or sets it
//   manual-reset event   set: every waiter passes
//   countdown latch      count 0: every waiter passes
//
// Invariant: while a waiter is queued, the gate is clear (the count is not 0).
const { reasonOf } = require('./abort.js')
const { lockError } = require('./errors.js')
const { readWait } = require('./options.js')
const { LocalLock } = require('./lock.js')
const { checkStackToRelease } = require('./stack.js')
const { Waiter } = require('./waiter.js')

const done = Promise.resolve()

/** Derived classes implement tryWait(), which passes at once and returns true, or returns false. */
class LocalGate extends LocalLock {
  wait(options) {
    const limits = readWait(options)
    if (limits.signal?.aborted) return Promise.reject(reasonOf(limits.signal))
    return this.tryWait() ? done : this.queueUp(1, limits, Waiter)
  }

  waitSync() {
    if (this.tryWait()) return
    const alone = `only this thread can end a wait for ${this.title()}: blocking here would deadlock. Wait with a promise`
    throw lockError('ERR_LOCK_DEADLOCK', alone)
  }

  pass(waiter) {
    this.dequeue(waiter)
    waiter.resolve()
    waiter.end()
  }

  /** Admits all that wait now. A custom signal may reset the event meanwhile, and wait for it again. */
  admitAll() {
    for (const waiter of this.waiters()) if (this.queue.has(waiter)) this.pass(waiter)
  }

  /** A waiter that leaves the queue never lets another one pass. */
  admit() {}
}

class LocalEvent extends LocalGate {
  constructor(isSet) {
    super()
    this.isOn = isSet
  }

  isSet() {
    return this.isOn
  }
}
LocalEvent.prototype.late = 'was not set'

class LocalAutoResetEvent extends LocalEvent {
  tryWait() {
    const { isOn } = this
    this.isOn = false
    return isOn
  }

  signal() {
    checkStackToRelease()
    if (this.hasQueue()) this.pass(this.queue.head)
    else this.isOn = true
  }
}
LocalAutoResetEvent.prototype.kind = 'auto-reset event'

class LocalManualResetEvent extends LocalEvent {
  tryWait() {
    return this.isOn
  }

  set() {
    checkStackToRelease()
    this.isOn = true
    this.admitAll()
  }

  reset() {
    this.isOn = false
  }
}
LocalManualResetEvent.prototype.kind = 'manual-reset event'

function tooManyError(latch, n) {
  const message = `${latch.title()} has fewer than ${n} left to count: look for a countDown() too many`
  return lockError('ERR_LOCK_RANGE', message, RangeError)
}

class LocalLatch extends LocalGate {
  #count

  constructor(count) {
    super()
    this.#count = count
  }

  count() {
    return this.#count
  }

  tryWait() {
    return this.#count === 0
  }

  countDown(n) {
    if (n > this.#count) throw tooManyError(this, n)
    checkStackToRelease()
    this.#count -= n
    if (this.#count === 0) this.admitAll()
  }
}
LocalLatch.prototype.late = 'was not open'
LocalLatch.prototype.kind = 'countdown latch'

module.exports = { LocalAutoResetEvent, LocalLatch, LocalManualResetEvent, tooManyError }
