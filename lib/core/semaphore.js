'use strict'
// A counting semaphore of one thread, with weights and priorities, and the semantics of async-mutex's.
//
//   acquire(w)   value - w, if w <= value and no waiter has the same priority or a higher one; else the queue
//   release(w)   value + w; then the head of the queue is admitted as long as its weight fits
//
// Invariant: the head of the queue does not fit (its weight exceeds the value), and blocks every lighter waiter
// of its own or a lower priority.
const { lockError } = require('./errors.js')
const { asTicket, makeReleaser } = require('./releaser.js')
const { LocalLock } = require('./lock.js')
const { checkCallback } = require('./options.js')
const {
  checkedValue,
  checkWeight,
  maxValue,
  readAcquire,
  readAcquireSync,
  readWatch,
} = require('./units.js')
const { checkStack } = require('./stack.js')
const { Waiter } = require('./waiter.js')

/** What an observer knows of a releaser's grant. */
const holdKey = Symbol('hold')

class LocalSemaphore extends LocalLock {
  constructor(value) {
    super()
    this.value = value
    /** What it is when every unit has come back, and the most that it ever is. */
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

  hasRoom(weight) {
    return this.value >= weight
  }

  /** A waiter with that priority may be granted `weight` now. */
  isOpen(weight, priority) {
    return this.value >= weight && (!this.hasQueue() || priority > this.topPriority())
  }

  acquire(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readAcquire(weightOrOptions, priorityOrOptions)
    const { signal } = limits
    if (signal?.aborted) return this.refuse(Acquirer, weight, signal.reason)
    if (this.isOpen(weight, limits.priority)) {
      const grant = this.grant(weight)
      const promise = Promise.resolve(grant)
      this.begin(weight, grant, null, promise)
      return promise
    }
    return this.queueUp(weight, limits, Acquirer)
  }

  tryAcquire(weight = 1) {
    checkWeight(weight)
    return this.value >= weight && !this.hasQueue() ? this.take(weight) : undefined
  }

  acquireSync(weightOrOptions, options) {
    const { weight } = readAcquireSync(weightOrOptions, options)
    const grant = this.tryAcquire(weight)
    if (grant !== undefined) return grant
    const alone = `only this thread could release ${this.title()}, and it would wait for itself`
    throw lockError('ERR_LOCK_DEADLOCK', alone)
  }

  take(weight) {
    const grant = this.grant(weight)
    this.begin(weight, grant, null)
    return grant
  }

  grant(weight) {
    return asTicket(this.value, releaser(this, weight))
  }

  /** A caller, which may have waited, has `grant`. */
  begin(weight, grant, waiter, promise) {
    this.value -= weight
    if (this.observer !== null) this.observeGrant(weight, grant, waiter, promise)
  }

  // Apart: what is not called by unwatched semaphores would keep begin() from being inlined.
  observeGrant(weight, grant, waiter, promise) {
    const release = grant[1]
    release[holdKey] = this.observer.granted(undefined, weight, waiter, false, release, promise)
  }

  async runExclusive(callback, weight, options) {
    checkCallback(callback)
    const ticket = await this.acquire(weight, options)
    if (ticket === undefined) return undefined
    const [before, release] = ticket
    try {
      return await callback(before, release)
    } finally {
      release()
    }
  }

  runExclusiveSync(callback, weight, options) {
    checkCallback(callback)
    checkStack()
    const [before, release] = this.acquireSync(weight, options)
    try {
      return callback(before, release)
    } finally {
      release()
    }
  }

  release(weight = 1) {
    checkWeight(weight)
    this.checkRoom(weight)
    if (this.observer !== null) this.observer.endedOldest(weight)
    this.comesBack(weight)
  }

  /** Units that were never taken make it more when whole. */
  comesBack(weight) {
    this.value += weight
    if (this.value > this.whole) this.whole = this.value
    this.admit()
  }

  checkRoom(weight) {
    if (this.value <= maxValue - weight) return
    const message = `${this.title()} would have more than ${maxValue}`
    throw lockError('ERR_LOCK_RANGE', message, RangeError)
  }

  /** A releaser puts back what it took. Of a key, release() may have put back a part of it already. */
  putBack(weight, release) {
    const back = this.key === undefined ? weight : Math.min(weight, this.whole - this.value)
    if (back <= 0) return
    this.checkRoom(back)
    if (this.observer !== null) this.observer.ended(release[holdKey], weight)
    this.comesBack(back)
  }

  setValue(value) {
    const next = checkedValue(value)
    if (this.observer !== null) this.observer.endedOldest(0)
    this.whole += next - this.value
    this.value = next
    this.admit()
  }

  /** Admits the head of the queue as long as it fits. */
  admit() {
    for (;;) {
      const waiter = this.hasQueue() ? this.queue.head : null
      const fits = waiter !== null && waiter.weight <= this.value
      if (this.watchers !== null) this.tell(this.value, waiter?.priority)
      if (!fits) break
      const grant = this.grant(waiter.weight)
      this.dequeue(waiter)
      this.begin(waiter.weight, grant, waiter)
      waiter.resolve(grant)
      waiter.end()
    }
    if (this.idleListener !== null) this.rest()
  }

  waitForUnlock(weightOrOptions, priorityOrOptions) {
    const { weight, limits } = readWatch(weightOrOptions, priorityOrOptions)
    return this.watch(weight, limits)
  }

  snapshot() {
    return this.seen({ value: this.value, waiting: this.queueSize() })
  }
}

LocalSemaphore.prototype.kind = 'semaphore'
LocalSemaphore.prototype.rejectsAtOnce = true

class Acquirer extends Waiter {
  // At once, as async-mutex does: its order is a promise, too, to the microtask.
  constructor(resolve, limits, reject) {
    super(resolve, limits)
    this.reject = reject
  }
}
Acquirer.prototype.mode = undefined

/** Puts back `weight`, unless the key of the semaphore has been idle since. */
function releaser(lock, weight) {
  const { generation } = lock
  let out = weight
  const release = () => {
    if (out === 0 || lock.generation !== generation) return
    const back = out
    out = 0
    lock.putBack(back, release)
  }
  return makeReleaser(release, false)
}

module.exports = { LocalSemaphore }
