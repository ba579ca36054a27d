'use strict'
// A mutex of one thread.
//
//   free    current === 0    no waiter
//   held    current > 0      the number of the grant; waiters, if any, in the queue
//
//   free -> held           acquire, lock, try
//   held -> held           unlock with waiters: a hand-off, which makes the next waiter the holder in the same turn
//   held -> free           unlock without waiters
//
// Invariants: 1. a free mutex has no waiter. 2. each grant has a number of its own: a stale releaser does nothing.
const { reasonOf } = require('./abort.js')
const { lockError } = require('./errors.js')
const { acquireOptions, checkCallback, lockingOptions, readWait } = require('./options.js')
const { LocalLock } = require('./lock.js')
const { localGrant, makeReleaser } = require('./releaser.js')
const { runSync } = require('./run.js')
const { checkStack } = require('./stack.js')
const { observed } = require('./platform.js')
const { setTraits, Waiter } = require('./waiter.js')

const free = 0
const done = Promise.resolve()

let lastGrant = 0

/** Numbers of grants stay small integers. When they start over, no grant of the first round is left. */
const nextGrant = () => {
  lastGrant = lastGrant === 2 ** 30 ? 1 : lastGrant + 1
  return lastGrant
}

class LocalMutex extends LocalLock {
  constructor() {
    super()
    this.current = free
  }

  // Each method first makes the calls that may fail near the end of the stack, and only then takes the mutex.

  lock(options) {
    if (options === undefined && this.current === free) {
      const grant = this.newGrant()
      if (this.mayTake()) {
        this.current = grant
        return this.observer === null ? done : this.begun(undefined, done)
      }
    }
    return this.enter(readWait(options, lockingOptions), Locker)
  }

  acquire(options) {
    if (options === undefined && this.current === free) {
      const grant = this.newGrant()
      const release = this.releaser(grant, false)
      const promise = Promise.resolve(release)
      if (this.mayTake()) {
        this.current = grant
        return this.observer === null ? promise : this.begun(release, promise)
      }
    }
    return this.enter(readWait(options, acquireOptions), Acquirer)
  }

  newGrant() {
    this.checkObserver()
    return nextGrant()
  }

  /** Whether the caller may take the free mutex. In a wider scope this borrows the lock first. */
  mayTake() {
    return true
  }

  enter(limits, Kind) {
    const { signal } = limits
    if (signal?.aborted) return this.refuse(Kind, 1, reasonOf(signal))
    if (this.current !== free) return this.queueUp(1, limits, Kind)
    const grant = this.newGrant()
    const value = Kind.valueOf(this, grant, false)
    const promise = Promise.resolve(value)
    this.current = grant
    return this.observer === null ? promise : this.begun(value, promise, false, limits)
  }

  /** Reports a grant without a wait. Returns the caller's promise: a new one if the observer tells promises apart. */
  begun(release, promise, isAbandoned = false, limits) {
    const { observer } = this
    const own = observer.tellsApart && promise === done ? Promise.resolve() : promise
    observed.granted(observer, 'exclusive', 1, null, isAbandoned, release, own, limits)
    return own
  }

  tryLock() {
    if (this.current !== free) return false
    this.current = this.newGrant()
    if (this.observer !== null) this.begun()
    return true
  }

  tryAcquire() {
    if (this.current !== free) return undefined
    const grant = this.newGrant()
    const release = this.releaser(grant, false)
    this.current = grant
    if (this.observer !== null) this.begun(release)
    return release
  }

  releaser(grant) {
    const Releaser = () => {
      if (this.current === grant) this.unlock()
    }
    return makeReleaser(Releaser, false)
  }

  lockSync() {
    if (!this.tryLock()) throw this.heldHere()
  }

  heldHere() {
    const held = `${this.title()} is already held by this thread: blocking here would deadlock. Release it first`
    return lockError('ERR_LOCK_DEADLOCK', held)
  }

  acquireSync() {
    const release = this.tryAcquire()
    if (release === undefined) throw this.heldHere()
    return release
  }

  runExclusiveSync(callback, limits) {
    return runSync(callback, () => this.acquireSync(limits))
  }

  async runExclusive(callback, options) {
    checkCallback(callback, undefined, options)
    let grant = free
    try {
      const next = options === undefined && this.current === free ? this.newGrant() : free
      if (next !== free && this.mayTake()) {
        grant = next
        this.current = next
        await (this.observer === null ? done : this.begun(undefined, done))
      } else {
        grant = await this.enter(readWait(options, acquireOptions), Runner)
        if (grant === undefined) return undefined
      }
      return await callback(this.grantOf(grant))
    } finally {
      // The grant may never have begun, or release() may have ended it.
      if (grant !== free && this.current === grant) this.unlock()
    }
  }

  /** The number of the current grant. A releaser with another number does nothing. */
  grant() {
    return this.current
  }

  /** The grant as callbacks see it. */
  grantOf() {
    return localGrant
  }

  unlock() {
    const { current, observer } = this
    if (current === free) throw this.notHeld()
    if (this.holds?.lose(current)) return
    if (observer !== null) {
      if (this.hasQueue()) checkStack()
      observed.ended(observer, observer.latest, 1)
      if (this.current !== current) return // ended by the observer's callback
    }
    // Read the queue only now: the observer's callback may have queued the first waiter.
    const { queue } = this
    if (queue === null || queue.size === 0) {
      this.current = free
      if (this.watchers === null && this.idleListener === null) return
      try {
        if (this.watchers !== null) this.tell(1, undefined)
        if (this.idleListener !== null) this.reportIdle()
      } catch (error) {
        // The stack is exhausted: the holder keeps the mutex.
        this.current = current
        throw error
      }
    } else {
      queue.head.enter(this, false)
    }
  }

  /** Acquires again after the wait for a condition, under the number of the old grant. Then calls `then`. */
  reacquire(limits, grant, then) {
    if (this.current !== free) return this.enqueue(new Returner(then, limits, grant))
    this.current = grant
    if (this.observer !== null) this.begun()
    then()
  }

  notHeld() {
    return lockError('ERR_LOCK_NOT_HELD', `${this.title()} is not held by this thread`)
  }

  release() {
    if (this.isLocked()) this.unlock()
  }

  isLocked() {
    return this.current !== free
  }

  isFree() {
    return this.current === free
  }

  hasRoom() {
    return this.current === free
  }

  /** Does nothing: a waiter that leaves the queue frees nothing. */
  admit() {}

  waitForUnlock(options) {
    return this.watch(1, readWait(options))
  }

  snapshot() {
    return this.seen({ locked: this.isLocked(), waiting: this.queueSize() })
  }
}

LocalMutex.prototype.kind = 'mutex'

/** Derived classes implement valueOf(mutex, grant, isAbandoned), which returns what the promise resolves to. */
class MutexWaiter extends Waiter {
  /** Makes the head of the queue the holder. */
  enter(mutex, isAbandoned) {
    const grant = nextGrant()
    this.begin(mutex, grant, this.constructor.valueOf(mutex, grant, isAbandoned), isAbandoned)
  }

  /** The calls that need much of the stack come first, because no later step may fail. */
  begin(mutex, grant, value, isAbandoned) {
    if (mutex.watchers !== null) {
      const { current } = mutex
      mutex.tell(1, this.priority)
      // A custom signal may have used the mutex meanwhile: this waiter may have been granted it, or have left.
      const isGone = !mutex.queue.has(this)
      if (isGone && mutex.current === current) mutex.unlock()
      if (isGone) return
    }
    mutex.dequeue(this)
    mutex.current = grant
    if (mutex.observer !== null) {
      this.markOver()
      observed.granted(mutex.observer, 'exclusive', 1, this, isAbandoned, value)
    }
    this.resolve(value)
    this.end()
  }
}

class Locker extends MutexWaiter {
  static valueOf() {}
}

class Runner extends MutexWaiter {
  static valueOf(mutex, grant, isAbandoned) {
    if (isAbandoned) mutex.abandonedGrant = grant
    return grant
  }
}

class Acquirer extends MutexWaiter {
  static valueOf(mutex, grant, isAbandoned) {
    return mutex.releaser(grant, isAbandoned)
  }
}

class Returner extends MutexWaiter {
  constructor(resolve, limits, grant) {
    super(resolve, limits)
    this.grant = grant
  }

  enter(mutex) {
    this.begin(mutex, this.grant, undefined, false)
  }
}
setTraits(Returner, { isToStay: true })

module.exports = { free, LocalMutex, nextGrant, Returner, Runner }
