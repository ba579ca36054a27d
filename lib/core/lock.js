'use strict'
// What every local lock has: a wait queue, watchers (waitForUnlock), and its place in a keyed map.
const { E_CANCELED, lockError } = require('./errors.js')
const { titleOf } = require('./keys.js')
const { checkStack } = require('./stack.js')
const { Limits } = require('./waiter.js')
const { WaitQueue } = require('./wait_queue.js')
const { Watchers } = require('./watchers.js')

/** What every lock has, of whatever scope; title() is what error messages call it. */
class AnyLock {
  timeoutError(timeout, waiter) {
    const message = `${this.title()} ${this.late} within ${timeout} ms`
    const error = lockError('ERR_LOCK_TIMEOUT', message)
    if (waiter !== undefined && this.observer !== null) this.observer.timedOut(waiter, error)
    return error
  }

  /** How many callers of this thread wait. */
  pending() {
    return this.queueSize()
  }

  /** Whether no more than `maxPending` callers of this thread may wait, and so many do. */
  isFull(maxPending) {
    return maxPending !== undefined && this.pending() >= maxPending
  }

  fullError(maxPending) {
    const message = `${this.title()} has as many waiters as maxPending lets it have, ${maxPending}: try again later`
    return lockError('ERR_LOCK_QUEUE_FULL', message)
  }

  /** `held`, with what an observer sees. */
  seen(held) {
    return this.observer === null ? held : this.observer.seen(held)
  }

  /** The keyed map that it belongs to. */
  get keyMap() {
    return this.key === undefined ? null : this.idleListener
  }

  /** It may be idle now. */
  rest() {
    if (this.isIdle()) this.idleListener.drop(this)
  }

  /** A promise for the moment when no caller of this thread holds it or waits for it. */
  onIdle() {
    if (this.isIdle()) return Promise.resolve()
    this.idleListener ??= new IdlePromise()
    return this.idleListener.promise
  }
}

/** What callers of onIdle() wait for. */
class IdlePromise {
  promise = new Promise((resolve) => {
    this.resolve = resolve
  })

  drop(lock) {
    // First what may fail, at the end of the stack.
    this.resolve()
    lock.idleListener = null
  }
}

// What only some have of their own: locks with a name, locks of keyed maps, and those whose users chose otherwise. All
// others do without the memory.
Object.assign(AnyLock.prototype, {
  /** Is called at each step, where the lock has diagnostics: see lib/diagnostics/observer.js. */
  observer: null,
  name: undefined,
  key: undefined,
  /** What it tells that it has become idle, by drop(lock): its keyed map, or a promise of onIdle(). */
  idleListener: null,
  pins: 0,
  generation: 0,
  cancelError: E_CANCELED,
  /** Whether waiters reject by the promise's own function, in the same microtask: see AnyWaiter.reject. */
  rejectsAtOnce: false,
  /** Whether blocking forms may block the main thread. */
  mayBlock: false,
  /** What it says of a wait that has timed out. */
  late: 'was not available',
})

// The executors of every promise here: closures made once. Each function kept costs a write barrier of some 6 ns.
let lastResolve
let lastReject
const keepResolve = (resolve) => {
  lastResolve = resolve
}
const keepBoth = (resolve, reject) => {
  lastResolve = resolve
  lastReject = reject
}

class LocalLock extends AnyLock {
  constructor() {
    super()
    /** The waiters, once there has been one. */
    this.queue = null
    this.watchers = null
  }

  /**
   * A promise in the queue; what it resolves to is a matter of `Kind`, a class of waiters. `subject` is what
   * only some kinds are made with.
   */
  queueUp(weight, { priority, timeout, signal, ifAvailable, maxPending }, Kind, subject) {
    if (ifAvailable) return Promise.resolve()
    if (this.isFull(maxPending)) return this.refuse(Kind, weight, this.fullError(maxPending))
    if (timeout === 0) return this.refuse(Kind, weight, this.timeoutError(0))
    const isLimited = timeout !== undefined || signal !== undefined
    const limits =
      weight === 1 && priority === 0 && !isLimited ? null : new Limits(weight, priority)
    const promise = new Promise(isLimited || this.rejectsAtOnce ? keepBoth : keepResolve)
    if (isLimited) limits.reject = lastReject
    const waiter = new Kind(lastResolve, limits, lastReject, subject)
    lastResolve = undefined
    lastReject = undefined
    this.enqueue(waiter)
    if (this.observer !== null && !waiter.isToStay) this.observeWait(waiter, promise)
    // What the observer tells of it may have ended it.
    if (isLimited && !limits.isOver) {
      const giveUp = (reason) => this.leave(waiter, reason)
      limits.begin({ timeout, signal }, giveUp, (late) => this.timeoutError(late, waiter))
    }
    return promise
  }

  observeWait(waiter, promise) {
    this.observer.waiting(waiter, promise)
  }

  /** A caller that does not get it, and does not wait. */
  refuse(Kind, weight, reason) {
    if (this.observer !== null) this.observer.refused(Kind.prototype.mode, weight, reason)
    return Promise.reject(reason)
  }

  enqueue(waiter) {
    this.queue ??= new WaitQueue()
    this.queue.push(waiter)
  }

  dequeue(waiter) {
    this.queue.remove(waiter)
  }

  /** `waiter` gives up. Waiters behind it that fit where it did not are admitted. */
  leave(waiter, reason) {
    this.dequeue(waiter)
    this.endInVain(waiter, reason)
    this.admit()
  }

  /** For an observer: `waiter` must not wait. */
  turnAway(waiter, reason) {
    this.leave(waiter, reason)
  }

  /** `waiter` has left the queue. */
  endInVain(waiter, reason) {
    waiter.end()
    if (this.observer !== null) this.observer.gaveUp(waiter, reason)
    waiter.reject(reason)
  }

  hasQueue() {
    return this.queue !== null && this.queue.size > 0
  }

  queueSize() {
    return this.queue === null ? 0 : this.queue.size
  }

  /** What a newcomer's priority must exceed to go ahead of every waiter. */
  topPriority() {
    return this.hasQueue() ? this.queue.head.priority : -Infinity
  }

  /** Rejects every waiter; holders, and what waits for the lock to become free, stay. */
  cancel(reason = this.cancelError) {
    this.endAll(
      reason,
      this.waiters().filter(({ isToStay }) => !isToStay),
    )
  }

  /** `waiters` give up. */
  endAll(reason, waiters = this.waiters()) {
    // A waiter that has left the queue must be told.
    if (waiters.length > 0) checkStack()
    // All of them first: none is to be admitted for the others' going.
    for (const waiter of waiters) this.dequeue(waiter)
    for (const waiter of waiters) this.endInVain(waiter, reason)
    if (waiters.length > 0) this.admit()
  }

  waiters() {
    return this.hasQueue() ? [...this.queue] : []
  }

  memory() {
    throw new TypeError(
      `${this.title()} has no buffer: construct it with { shared: true } to share it with other threads`,
    )
  }

  /** A promise for the moment when `weight` could be had. */
  watch(weight, limits) {
    const { priority, timeout, signal } = limits
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (this.hasRoom(weight) && (!this.hasQueue() || priority > this.topPriority()))
      return Promise.resolve()
    if (timeout === 0) return Promise.reject(this.timeoutError(0))
    this.watchers ??= new Watchers()
    return this.watchers.wait(weight, limits, (late) => this.timeoutError(late))
  }

  /** Tells the watchers, and forgets them when none is left: releasing looks for null only. */
  tell(value, topPriority) {
    this.watchers.tell(value, topPriority)
    if (this.watchers.size === 0) this.watchers = null
  }

  /** A key stays while it has watchers. They do not want the lock: of a single one they do not count. */
  isIdle() {
    return this.pins === 0 && this.isFree() && (this.watchers === null || this.key === undefined)
  }

  title() {
    return titleOf(this.kind, this)
  }
}

LocalLock.prototype.share = null

module.exports = { AnyLock, IdlePromise, LocalLock }
