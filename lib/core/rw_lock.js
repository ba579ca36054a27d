'use strict'
// A read-write lock of one thread. Readers share it, a writer is alone. Neither starves, because a new caller queues
// behind any waiter. One reader may upgrade; a writer may downgrade.
//
//   free        readers 0
//   read        readers n > 0         more readers enter while no waiter is queued
//   upgrading   readers n > 1         one of them waits, ahead of the queue, to become the writer; no new readers
//   written     isWritten
//
// Invariants: 1. isWritten implies readers === 0. 2. The head of the queue does not fit. 3. While a reader is
// upgrading, readers >= 2, itself included. Once the others have released, it becomes the writer.
const { reasonOf } = require('./abort.js')
const { acquireOptions, checkCallback, readWait } = require('./options.js')
const { deadlockError, endedError, upgradeError } = require('./rw_errors.js')
const { LocalLock } = require('./lock.js')
const { localGrant } = require('./releaser.js')
const { grantKey, readReleaser, writeReleaser } = require('./rw_releaser.js')
const { Reader, ReadRunner, Upgrader, Writer, WriteRunner } = require('./rw_waiters.js')
const platform = require('./platform.js')
const { checkStack, checkStackToRelease } = require('./stack.js')

class LocalRWLock extends LocalLock {
  constructor() {
    super()
    this.readerCount = 0
    this.hasWriter = false
    /** The waiter of the reader that is upgrading. */
    this.upgrader = null
  }

  readers() {
    return this.readerCount
  }

  isWritten() {
    return this.hasWriter
  }

  isLocked() {
    return this.hasWriter || this.readerCount > 0
  }

  isFree() {
    return !this.isLocked() && !this.hasQueue()
  }

  queueSize() {
    return super.queueSize() + (this.upgrader === null ? 0 : 1)
  }

  acquireRead(options) {
    return this.enter(readWait(options, acquireOptions), Reader)
  }

  acquireWrite(options) {
    return this.enter(readWait(options, acquireOptions), Writer)
  }

  enter(limits, Kind) {
    const { signal, priority } = limits
    if (signal?.aborted) return this.refuse(Kind, 1, reasonOf(signal))
    if (!(Kind.fits(this) && this.goesFirst(priority))) return this.queueUp(1, limits, Kind)
    this.checkObserver()
    const value = Kind.valueOf(this)
    const promise = Promise.resolve(value)
    Kind.enter(this)
    if (this.observer !== null) this.began(Kind, null, value, promise, limits)
    return promise
  }

  runShared(callback, options) {
    return this.#run(ReadRunner, 'endRead', callback, options)
  }

  runExclusive(callback, options) {
    return this.#run(WriteRunner, 'endWrite', callback, options)
  }

  async #run(Kind, end, callback, options) {
    checkCallback(callback, undefined, options)
    const grant = await this.enter(readWait(options, acquireOptions), Kind)
    if (grant === undefined) return undefined
    try {
      return await callback(localGrant)
    } finally {
      grant[end]()
    }
  }

  /** Reports to the observer that a caller of `Kind` holds the lock by `value`. `waiter` is null if it did not wait. */
  began(Kind, waiter, value, promise, limits) {
    const told = [waiter, false, value, promise, limits]
    waiter?.markOver()
    value[grantKey].hold = platform.observed.granted(this.observer, Kind.mode, 1, ...told)
  }

  tryAcquireRead() {
    return this.#try(Reader)
  }

  tryAcquireWrite() {
    return this.#try(Writer)
  }

  #try(Kind) {
    checkStack()
    if (!Kind.fits(this) || this.hasQueue()) return undefined
    const release = Kind.valueOf(this)
    Kind.enter(this)
    if (this.observer !== null) this.began(Kind, null, release)
    return release
  }

  acquireReadSync() {
    return this.tryAcquireRead() ?? this.#deadlock()
  }

  acquireWriteSync() {
    return this.tryAcquireWrite() ?? this.#deadlock()
  }

  #deadlock() {
    throw deadlockError(this)
  }

  /** Throws if the stack may be too short for the observer of a release. After checkStack() there was room for one. */
  checkRelease() {
    if (this.observer === null) return
    if (this.queueSize() > 0) checkStack()
    else checkStackToRelease()
  }

  // Near the end of the stack admit() may throw. If it has admitted no waiter by then, the holder keeps the lock.

  endRead(grant) {
    this.checkRelease()
    if (grant.pending !== null) this.leave(grant.pending, endedError(this))
    // A custom signal may have released this grant.
    if (grant.isOver) return
    grant.end()
    const left = --this.readerCount
    try {
      this.admit()
    } catch (error) {
      if (!this.hasWriter && this.readerCount === left) {
        grant.isOver = false
        this.readerCount++
      }
      throw error
    }
  }

  endWrite(grant) {
    this.checkRelease()
    grant.end()
    this.hasWriter = false
    try {
      this.admit()
    } catch (error) {
      if (!this.hasWriter && this.readerCount === 0) {
        grant.isOver = false
        this.hasWriter = true
      }
      throw error
    }
  }

  /** Admits the upgrading reader, or else waiters from the head of the queue as long as they fit. */
  admit() {
    if (this.upgrader !== null) {
      if (this.readerCount === 1) this.#admitUpgrader()
      return
    }
    while (this.hasQueue()) {
      const Kind = this.queue.head.constructor
      if (!Kind.fits(this)) return
      const waiter = this.queue.head
      const value = Kind.valueOf(this)
      this.dequeue(waiter)
      Kind.enter(this)
      if (this.observer !== null) this.began(Kind, waiter, value)
      waiter.resolve(value)
      waiter.end()
    }
    if (this.idleListener !== null) this.reportIdle()
  }

  #admitUpgrader() {
    const { upgrader } = this
    const release = writeReleaser(this)
    this.dequeue(upgrader)
    upgrader.markOver()
    this.#becomeWriter(upgrader.grant, release, upgrader)
    upgrader.resolve(release)
    upgrader.end()
  }

  /** Makes the only reader, which has `grant`, the writer, which has `release`. */
  #becomeWriter(grant, release, waiter, promise) {
    // From here on no step may fail.
    grant.isOver = true
    this.readerCount = 0
    this.hasWriter = true
    // The lock is in its new state: the observer's subscribers may use it.
    if (this.observer === null) return
    platform.observed.ended(this.observer, grant.hold, 1)
    this.began(Writer, waiter, release, promise)
  }

  /** Makes the reader of `grant` the writer. Resolves to the writer's releaser. */
  upgrade(grant, limits) {
    const { signal } = limits
    if (signal?.aborted) return this.refuse(Upgrader, 1, reasonOf(signal))
    if (this.upgrader !== null) return Promise.reject(upgradeError(this))
    this.checkObserver()
    if (this.readerCount > 1) return this.queueUp(1, limits, Upgrader, grant)
    const release = writeReleaser(this)
    const promise = Promise.resolve(release)
    this.#becomeWriter(grant, release, null, promise)
    return promise
  }

  tryUpgrade(grant) {
    if (this.upgrader !== null || this.readerCount > 1) return undefined
    this.checkObserver()
    const release = writeReleaser(this)
    this.#becomeWriter(grant, release, null)
    return release
  }

  upgradeSync(grant) {
    if (this.upgrader !== null) throw upgradeError(this)
    return this.tryUpgrade(grant) ?? this.#deadlock()
  }

  /**
   * Makes the writer of `grant` a reader, and admits the readers at the head of the queue. Returns the reader's
   * releaser.
   */
  downgrade(grant) {
    this.checkObserver()
    const release = readReleaser(this)
    grant.end()
    this.hasWriter = false
    this.readerCount = 1
    if (this.observer !== null) this.began(Reader, null, release)
    try {
      this.admit()
    } catch (error) {
      // If another reader has been admitted, its release will admit the rest of the queue.
      if (this.readerCount > 1) return release
      grant.isOver = false
      this.hasWriter = true
      this.readerCount = 0
      throw error
    }
    return release
  }

  enqueue(waiter) {
    if (!(waiter instanceof Upgrader)) return super.enqueue(waiter)
    platform.trackWaits(this)
    this.upgrader = waiter
  }

  dequeue(waiter) {
    if (waiter === this.upgrader) this.upgrader = null
    else super.dequeue(waiter)
  }

  waiters() {
    return this.upgrader === null ? super.waiters() : [this.upgrader, ...super.waiters()]
  }

  snapshot() {
    const waiting = this.queueSize()
    return this.seen({ readers: this.readers(), written: this.isWritten(), waiting })
  }
}

LocalRWLock.prototype.kind = 'read-write lock'

module.exports = { LocalRWLock }
