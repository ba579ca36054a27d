'use strict'
// The base of every local lock: a wait queue, watchers (waitForUnlock), and its place in a keyed map.
const { reasonOf } = require('./abort.js')
const { lockError } = require('./errors.js')
const { titleOf } = require('./keys.js')
const { checkStack } = require('./stack.js')
const { WaitQueue } = require('./wait_queue.js')
const platform = require('./platform.js')
const { Watchers } = require('./watchers.js')
const { UnobservedWaiter, wait } = require('./waiter.js')

const unavailable = 'was not available'

/**
 * The base of every lock, of any scope. Derived classes have a `kind`, which names the lock in error messages, and
 * implement hasCallers(), whether a caller of this thread holds it or waits to acquire it; and isIdle(), whether this
 * thread no longer needs it. A caller of waitForUnlock() does not count for hasCallers(), but keeps the lock of a key
 * from being idle.
 */
class AnyLock {
  /** Applies the owner's settings. */
  configured({ mayBlock }) {
    if (mayBlock !== this.mayBlock) this.mayBlock = mayBlock
    return this
  }

  timeoutError(timeout, waiter) {
    const why = this.hint(waiter) || this.holdersHint(timeout)
    const message = `${this.title()} ${this.late} within ${Math.round(timeout)} ms${why}`
    const error = lockError('ERR_LOCK_TIMEOUT', message)
    if (waiter !== undefined && this.observer !== null)
      platform.observed.timedOut(this.observer, waiter, error)
    return error
  }

  /** The end of a timeout's message if the waiter's own mistake may be the cause, or ''. */
  hint() {
    return ''
  }

  /**
   * The end of a timeout's message: the holders of the lock if they are known, or else how to see them. The message
   * calls the lock `what`. Empty for `timeout: 0`, since that caller did not wait.
   */
  holdersHint(timeout, what = 'it') {
    if (timeout === 0 || !this.isHeldByCallers() || !this.hasDiagnostics) return ''
    return this.observer === null
      ? platform.howToSeeHolders
      : `; ${what} is ${platform.observed.describeHolders(this.observer)}`
  }

  /**
   * Whether a release ends a wait. False for an event, a latch and a barrier, where the call that ends it may never
   * come.
   */
  isHeldByCallers() {
    return this.late === unavailable
  }

  /** The number of waiting callers of this thread. */
  pending() {
    return this.queueSize()
  }

  /** Whether `maxPending` callers of this thread wait. */
  isFull(maxPending) {
    return maxPending !== undefined && this.pending() >= maxPending
  }

  fullError(maxPending) {
    const message = `the queue of ${this.title()} is full: maxPending is ${maxPending}; try again later`
    return lockError('ERR_LOCK_QUEUE_FULL', message)
  }

  /** Rejects a caller that may not wait. `Kind` is the class of the waiter that it would be. */
  refuse(Kind, weight, reason) {
    if (this.observer !== null && !Kind.isToStay)
      platform.observed.refused(this.observer, Kind.mode, weight, reason)
    return Promise.reject(reason)
  }

  /** Rejects `waiter`, which has left the queue. */
  fail(waiter, reason) {
    waiter.end()
    if (this.observer !== null) platform.observed.gaveUp(this.observer, waiter, reason)
    waiter.reject(reason)
  }

  /** Tells the observer that `waiter` waits. Its caller has `promise`. */
  observeWait(waiter, promise) {
    platform.observed.waiting(this.observer, waiter, promise)
  }

  /** Adds what an observer reports to `held`. */
  seen(held) {
    return this.observer === null ? held : this.observer.seen(held)
  }

  /** The keyed map that the lock belongs to, or null. */
  get keyMap() {
    return this.key === undefined ? null : this.idleListener
  }

  hasCallers() {
    return !this.isIdle()
  }

  /** The memory through which other threads find the lock. */
  memory() {
    if (this.words === undefined) {
      throw new TypeError(
        `${this.title()} has no buffer: construct it with { shared: true } to share it with other threads`,
      )
    }
    if (this.name === undefined) return this.words
    throw new TypeError(
      `${this.title()} is shared by its name and has no buffer: construct it with the same name`,
    )
  }

  title() {
    const { kind } = this
    return titleOf(typeof kind === 'string' ? kind : kind.name, this)
  }

  /** Tells the listener if the lock is idle. Tells a keyed map also if only callers of waitForUnlock() are left. */
  reportIdle() {
    if (this.isIdle()) this.idleListener.drop(this)
    else if (this.key !== undefined && !this.hasCallers()) this.idleListener.reportIdle()
  }

  /** Resolves when no caller of this thread holds the lock or waits for it. */
  onIdle() {
    if (this.isIdle()) return Promise.resolve()
    this.idleListener ??= new IdlePromise()
    platform.trackWaits(this)
    return this.idleListener.promise
  }
}

/** The promise that callers of onIdle() wait for: the `idleListener` of a lock or of a keyed map. */
class IdlePromise {
  promise = new Promise((resolve) => {
    this.resolve = resolve
  })

  drop(lock) {
    // This call may fail near the end of the stack, so it comes first.
    this.resolve()
    lock.idleListener = null
  }
}

// Defaults of fields that few locks set: those with a name, a key or options. On the prototype the fields cost the
// other locks no memory.
Object.assign(AnyLock.prototype, {
  /** Called at each step of a lock with diagnostics: see lib/diagnostics/observer.js. */
  observer: null,
  /** 'thread', 'process', 'host' or 'cluster'. */
  scope: 'thread',
  /** Whether the lock can have an observer. Locks of lock managers cannot. */
  hasDiagnostics: true,
  name: undefined,
  key: undefined,
  /** What all objects of the lock share in this thread. Null for a lock of one thread, and over an engine. */
  shared: null,
  words: undefined,
  /** The keyed map, or a promise of onIdle(). The lock calls its drop(lock) when it becomes idle. */
  idleListener: null,
  pins: 0,
  generation: 0,
  /** Whether blocking calls may block the main thread. */
  mayBlock: false,
  /** What a timeout's message says of the lock. */
  late: unavailable,
})

class LocalLock extends AnyLock {
  constructor() {
    super()
    /** The queue, created for the first waiter. */
    this.queue = null
    this.watchers = null
  }

  /**
   * Returns a promise that waits in the queue, or the rejection of a caller that may not wait. `Kind`, a class of
   * waiters, decides what it resolves to. `subject` is the extra constructor argument of some kinds.
   */
  queueUp(weight, limits, Kind, subject) {
    const { timeout, maxPending } = limits
    if (limits.ifAvailable) return Promise.resolve()
    if (this.isFull(maxPending)) return this.refuse(Kind, weight, this.fullError(maxPending))
    if (timeout === 0) return this.refuse(Kind, weight, this.timeoutError(0))
    this.checkWait(limits)
    return wait(this, Kind, weight, limits, subject)
  }

  /**
   * Throws if the stack may be too short to start the timer, to listen to the signal or to call the observer of a
   * queued waiter: the lock would go to a waiter without a caller.
   */
  checkWait({ timeout, signal }) {
    if (timeout ?? signal ?? this.observer) checkStack()
  }

  /** Throws if the stack may be too short for the observer. Called before a step that must not fail halfway. */
  checkObserver() {
    if (this.observer !== null) checkStack()
  }

  enqueue(waiter) {
    if (this.queue === null) {
      platform.trackWaits(this)
      this.queue = new WaitQueue()
    }
    this.queue.push(waiter)
  }

  dequeue(waiter) {
    this.queue.remove(waiter)
  }

  /** Rejects `waiter` with `reason`, then admits the waiters behind it that fit. */
  leave(waiter, reason) {
    this.dequeue(waiter)
    this.fail(waiter, reason)
    this.admit()
  }

  hasQueue() {
    return this.queue !== null && this.queue.size > 0
  }

  queueSize() {
    return this.queue === null ? 0 : this.queue.size
  }

  /** The number of callers of this thread that wait in any way. */
  waitsHere() {
    return this.queueSize() + (this.watchers?.size ?? 0)
  }

  /** Whether a new caller of this `priority` goes ahead of every queued waiter. */
  goesFirst(priority) {
    return !this.hasQueue() || priority > this.queue.head.priority
  }

  /** Rejects every waiter that wants to acquire. Holders and callers of waitForUnlock() stay. */
  cancel(reason) {
    const leaving = this.waiters().filter(({ isToStay }) => !isToStay)
    this.endAll(reason, leaving)
  }

  endAll(reason, waiters = this.waiters()) {
    if (waiters.length === 0) return
    // Every waiter that leaves the queue must be settled, so check the stack first.
    checkStack()
    // Remove all waiters before the first one rejects, so that none is admitted because another one left.
    for (const waiter of waiters) {
      this.dequeue(waiter)
      waiter.markOver()
    }
    for (const waiter of waiters) this.fail(waiter, reason)
    this.admit()
  }

  waiters() {
    return this.queue === null ? [] : this.queue.waiters()
  }

  /** Resolves when `weight` is available. */
  watch(weight, limits) {
    const { priority, timeout, signal } = limits
    if (signal?.aborted) return Promise.reject(reasonOf(signal))
    if (this.hasRoom(weight) && this.goesFirst(priority)) return Promise.resolve()
    if (timeout === 0) return Promise.reject(this.timeoutError(0))
    this.checkWait(limits)
    if (this.watchers === null) {
      platform.trackWaits(this)
      this.watchers = new Watchers((late) => this.timeoutError(late))
    }
    return wait(this.watchers, UnobservedWaiter, weight, limits)
  }

  /** Resolves the watchers whose wait is over. Drops an empty list, so that a release only compares with null. */
  tell(value, topPriority) {
    this.watchers.tell(value, topPriority)
    // A custom signal may have released the lock meanwhile.
    if (this.watchers?.size === 0) this.watchers = null
  }

  /** Watchers keep the lock of a key from being idle. */
  isIdle() {
    return this.pins === 0 && this.isFree() && (this.watchers === null || this.key === undefined)
  }
}

module.exports = { AnyLock, IdlePromise, LocalLock }
