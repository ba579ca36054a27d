'use strict'
// A read-write lock for promises that several threads share (src/locks/rw_lock.h).
const { Core } = require('./core.js')
const { lockError } = require('../core/errors.js')
const native = require('../load.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { endedError, upgradeError } = require('../core/rw_errors.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const {
  observeReleaser,
  Reader,
  readReleaser,
  Upgrader,
  Writer,
  writeReleaser,
} = require('./rw_grants.js')
const { giveUp, grantedAbandoned, isGranted, refused, wait } = require('./waiters.js')

const free = 0
const writer = 8
const countShift = 6

// What a waiter asks for: RWLockRules in src/locks/rw_lock.h.
const read = 1
const write = 2
const upgrade = 3

class RWCore extends Core {
  /** The word of a lock that is new. */
  static idleWord() {
    return free
  }

  constructor() {
    super(free)
    /** How many releasers are out. */
    this.out = 0
  }

  readers() {
    const word = this.read()
    return (word & writer) === 0 ? word >>> countShift : 0
  }

  isWritten() {
    return (this.read() & writer) !== 0
  }

  snapshot() {
    const waiting = this.queueSize()
    return this.seen({ readers: this.readers(), written: this.isWritten(), waiting })
  }

  isLocked() {
    return this.isWritten() || this.readers() > 0
  }

  /** Whether this thread has a part in it. */
  isOurs() {
    return this.waitersHere > 0 || this.out > 0
  }

  /**
   * While this thread writes, no waiter is admitted. While it reads, none of its writers is, except its only reader
   * when that upgrades.
   */
  isOutOfOurHands() {
    const { isHeld, reads, waitingReads, upgrading } = this.share
    return !isHeld && (reads === upgrading || waitingReads > 0)
  }

  acquireRead(options) {
    return this.enterLine(read, readWait(options, acquireOptions), Reader)
  }

  acquireWrite(options) {
    return this.enterLine(write, readWait(options, acquireOptions), Writer)
  }

  tryAcquireRead() {
    return this.tryNow(read, readReleaser)
  }

  tryAcquireWrite() {
    return this.tryNow(write, writeReleaser)
  }

  tryNow(ask, releaser) {
    // Not before one of our own, which may be on its way.
    if (this.hasLine() && this.kind.native.stands(this.place)) return undefined
    const outcome = this.tryEnter(ask)
    return isGranted(outcome) ? releaser(this, outcome === grantedAbandoned) : undefined
  }

  acquireReadSync(limits) {
    const release = this.tryAcquireRead() ?? this.tryReadAgain()
    if (release !== undefined) return release
    // A reader that has to wait although this thread reads is behind a writer, which waits for this thread.
    if (this.share.reads > 0) throw this.deadlock()
    return this.enterBlocking(read, limits, readReleaser)
  }

  /** While this thread reads, readers of others may be in the queue still that have been invited. */
  tryReadAgain() {
    if (this.share.reads === 0) return undefined
    checkStack()
    this.dispatch(this.kind.native.hurry(this.place))
    return this.tryAcquireRead()
  }

  acquireWriteSync(limits) {
    const release = this.tryAcquireWrite()
    if (release !== undefined) return release
    if (this.share.reads > 0) throw this.deadlock()
    return this.enterBlocking(write, limits, writeReleaser)
  }

  enterBlocking(ask, limits, releaser) {
    // What a promise of ours has been granted counts as well, though it has not heard of it yet.
    if (this.share.isHeld || this.share.waiting > 0) throw this.deadlock()
    const outcome = this.enterSync(ask, limits)
    return releaser(this, outcome === grantedAbandoned)
  }

  deadlock() {
    const message = `${this.title()} could not be had without this thread, which would wait for itself`
    return lockError('ERR_LOCK_DEADLOCK', message)
  }

  /** A promise for the releaser of the writer that the reader of `grant` becomes. */
  upgrade(grant, limits) {
    if (limits.signal?.aborted) return this.refuse(upgrade, limits.signal.reason)
    // Not asked of C++, where it may be the writer already, by a completion that has not come yet.
    if (grant.pending !== null) return Promise.reject(upgradeError(this))
    checkStack()
    // A caller that has no time to wait keeps no reader out meanwhile, and no upgrade.
    const isNow = limits.timeout === 0
    const outcome = isNow
      ? this.kind.native.upgradeSync(this.place, 0)
      : this.kind.native.upgrade(this.place)
    if (isGranted(outcome)) {
      return this.given(Promise.resolve(this.becomeWriter(grant, outcome === grantedAbandoned)))
    }
    if (outcome === refused || isNow) {
      this.changed()
      if (outcome === refused) return Promise.reject(upgradeError(this))
      return this.refuse(upgrade, this.timeoutError(0))
    }
    return wait(this, outcome, Upgrader, upgrade, limits, grant)
  }

  /** The same now, or undefined. */
  tryUpgrade(grant) {
    if (grant.pending !== null) return undefined
    checkStack()
    const outcome = this.kind.native.upgradeSync(this.place, 0)
    return isGranted(outcome) ? this.becomeWriter(grant, outcome === grantedAbandoned) : undefined
  }

  /** The same, and blocks this thread. */
  upgradeSync(grant, limits) {
    if (grant.pending !== null) throw upgradeError(this)
    const release = this.tryUpgrade(grant)
    if (release !== undefined) return release
    if (this.observer === null) return this.upgradeBlocking(grant, limits)
    const block = () => this.upgradeBlocking(grant, limits)
    return this.observer.blocks(this, upgrade, limits, block, grant.hold)
  }

  upgradeBlocking(grant, { timeout }) {
    // A promise of ours that waits to read may do so by now.
    if (this.share.reads > 1 || this.share.waitingReads > 0) throw this.deadlock()
    checkStack()
    const outcome = this.kind.native.upgradeSync(this.place, timeout)
    if (isGranted(outcome)) return this.becomeWriter(grant, outcome === grantedAbandoned)
    this.dispatch(native.eventLoop.completions())
    throw outcome === refused ? upgradeError(this) : this.timeoutError(timeout)
  }

  /** A reader that upgrades keeps its place ahead of the queue. */
  enter(ask, priority) {
    return ask === upgrade ? this.kind.native.upgrade(this.place) : super.enter(ask, priority)
  }

  modeOf(ask) {
    return ask === read ? 'shared' : 'exclusive'
  }

  beganReading() {
    this.out++
    this.share.reads++
    this.changed()
  }

  beganWriting() {
    this.out++
    this.share.isHeld = true
    this.changed()
  }

  endedReading() {
    this.out--
    this.share.reads--
  }

  endedWriting() {
    this.out--
    this.share.isHeld = false
  }

  endRead(grant) {
    checkStackToRelease()
    grant.isOver = true
    if (grant.pending !== null) {
      giveUp(grant.pending, endedError(this))
      // Too late: it is the writer already, and lets go when it hears of it.
      if (grant.pending !== null) return
    }
    if (this.observer !== null) this.observer.ended(grant.hold, 1)
    const count = this.kind.native.unlockRead(this.place)
    this.endedReading()
    this.dispatch(count)
  }

  endWrite(grant) {
    checkStackToRelease()
    grant.isOver = true
    if (this.observer !== null) this.observer.ended(grant.hold, 1)
    const count = this.kind.native.unlockWrite(this.place)
    this.endedWriting()
    this.dispatch(count)
  }

  /** For one that was told of a death and goes again at once: the next one is told in its stead. */
  abandon(grant, isWriter) {
    if (grant.isOver) return
    checkStackToRelease()
    grant.isOver = true
    if (this.observer !== null) this.observer.ended(grant.hold, 1)
    const count = this.kind.native.abandon(this.place, +isWriter)
    if (isWriter) this.endedWriting()
    else this.endedReading()
    this.dispatch(count)
  }

  /** The reader of `grant` is the writer by the releaser that this gives. */
  becomeWriter(grant, isAbandoned) {
    grant.isOver = true
    if (this.observer !== null) this.observer.ended(grant.hold, 1)
    this.endedReading()
    const release = writeReleaser(this, isAbandoned)
    this.changed()
    return release
  }

  /** From writing to reading; readers at the head of the queue come in, too. */
  downgrade(grant) {
    checkStackToRelease()
    grant.isOver = true
    if (this.observer !== null) this.observer.ended(grant.hold, 1)
    const count = this.kind.native.downgrade(this.place)
    this.endedWriting()
    // The observer hears of it once the readers are in that come in by it: it may use other locks.
    const release = readReleaser(this, false, false)
    this.dispatch(count)
    if (this.observer !== null) observeReleaser(this, release, 'shared', false)
    return release
  }

  admit(waiter, abandoned) {
    if (waiter instanceof Upgrader) {
      if (this.observer !== null) this.observeAdmission(waiter)
      waiter.admitted(abandoned)
    } else super.admit(waiter, abandoned)
    this.changed()
  }
}

RWCore.prototype.kind = { name: 'read-write lock', number: 7, bytes: 4, native: native.rwLock }

module.exports = { RWCore }
