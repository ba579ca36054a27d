'use strict'
// A read-write lock that threads share (src/locks/rw_lock.h).
const { kindOf, SharedLock } = require('./shared_lock.js')
const native = require('../addon/load.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { runs } = require('../core/rw_runs.js')
const { deadlockError, endedError, upgradeError } = require('../core/rw_errors.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { observeReleaser, Reader, releaserOf, Upgrader, Writer } = require('./rw_grants.js')
const { observed } = require('../core/platform.js')
const { wait } = require('../core/waiter.js')
const { grantedAbandoned, isGranted, refused } = require('./waiters.js')

const free = 0
// See src/locks/rw_lock.h. A waiter asks for `read`, `write` or `upgrade`.
const { writer, countShift, read, write, upgrade } = native.layout.rwLock

class SharedRWLock extends SharedLock {
  constructor() {
    super(free)
  }

  readers() {
    const word = this.read()
    return (word & writer) === 0 ? word >>> countShift : 0
  }

  isWritten() {
    return (this.read() & writer) !== 0
  }

  isLocked() {
    return this.isWritten() || this.readers() > 0
  }

  isOurs() {
    const { isHeld, reads } = this.shared
    return isHeld || reads > 0
  }

  /**
   * False if only this thread can end the waits of this thread. While it writes, no waiter can be admitted. While it
   * reads, none of its writers can be, except its only reader when that upgrades.
   */
  canBeGrantedElsewhere() {
    const { isHeld, reads, waitingReads, upgrading } = this.shared
    return !isHeld && (reads === upgrading || waitingReads > 0)
  }

  acquireRead(options) {
    return this.enterQueue(read, readWait(options, acquireOptions), Reader)
  }

  acquireWrite(options) {
    return this.enterQueue(write, readWait(options, acquireOptions), Writer)
  }

  tryAcquireRead() {
    return this.tryNow(read)
  }

  tryAcquireWrite() {
    return this.tryNow(write)
  }

  tryNow(ask) {
    const outcome = this.tryEnter(ask)
    if (!isGranted(outcome)) return undefined
    return releaserOf(this, ask === write, outcome === grantedAbandoned)
  }

  /**
   * While promises of this thread wait, the call overtakes no waiter, whatever its priority. At scope host no caller
   * overtakes the waiters of its process anyway.
   */
  tryNatively(ask) {
    const { isHost, waiting } = this.shared
    return waiting > 0 && !isHost ? this.enterNow(ask, -Infinity) : super.tryNatively(ask)
  }

  acquireReadSync(limits) {
    return this.acquireSync(read, limits)
  }

  acquireWriteSync(limits) {
    return this.acquireSync(write, limits)
  }

  acquireSync(ask, limits) {
    const release = this.tryNow(ask) ?? (ask === read ? this.tryReadAgain() : undefined)
    if (release !== undefined) return this.givenSync(release, limits)
    const { isHeld, reads, waiting } = this.shared
    // `waiting` counts also waiters that have been granted but whose completion this thread has not read. A reader would
    // wait behind a writer, and the writer waits for the readers of this thread.
    if (isHeld || reads > 0 || waiting > 0) throw deadlockError(this)
    const outcome = this.enterSync(ask, limits)
    return releaserOf(this, ask === write, outcome === grantedAbandoned)
  }

  /** Tries again after C++ has admitted the invited readers of other threads at the head of the queue. */
  tryReadAgain() {
    if (this.shared.reads === 0) return undefined
    checkStack()
    this.dispatch(this.kind.native.hurry(this.wordIndex))
    return this.tryAcquireRead()
  }

  /** Makes the reader of `grant` the writer. Resolves to the writer's releaser. */
  upgrade(grant, limits) {
    const refusal = this.refusal(limits.signal)
    if (refusal !== undefined) return this.refuse(Upgrader, upgrade, refusal)
    // Do not ask C++, which may have made this reader the writer by a completion that this thread has not read.
    if (grant.pending !== null) return Promise.reject(upgradeError(this))
    checkStack()
    // A caller that may not wait must not enter the queue, where it would keep out readers and other upgrades.
    const isNow = limits.timeout === 0
    const outcome = isNow
      ? this.kind.native.upgradeSync(this.wordIndex, 0)
      : this.kind.native.upgrade(this.wordIndex)
    if (isGranted(outcome)) {
      return this.given(Promise.resolve(this.becomeWriter(grant, outcome === grantedAbandoned)))
    }
    if (outcome === refused || isNow) {
      this.changed()
      if (outcome === refused) return Promise.reject(upgradeError(this))
      return this.refuse(Upgrader, upgrade, this.timeoutError(0))
    }
    return wait(this, Upgrader, upgrade, limits, grant, outcome)
  }

  tryUpgrade(grant) {
    this.checkRefusal()
    if (grant.pending !== null) return undefined
    checkStack()
    const outcome = this.kind.native.upgradeSync(this.wordIndex, 0)
    return isGranted(outcome) ? this.becomeWriter(grant, outcome === grantedAbandoned) : undefined
  }

  upgradeSync(grant, limits) {
    if (grant.pending !== null) throw upgradeError(this)
    const release = this.tryUpgrade(grant)
    if (release !== undefined) return release
    if (this.observer === null) return this.upgradeBlocking(grant, limits)
    const block = () => this.upgradeBlocking(grant, limits)
    return observed.blocks(this.observer, this, upgrade, limits, block, grant.hold)
  }

  upgradeBlocking(grant, { timeout }) {
    // A promise of this thread that waits to read may have been admitted by now.
    if (this.shared.reads > 1 || this.shared.waitingReads > 0) throw deadlockError(this)
    checkStack()
    const outcome = this.kind.native.upgradeSync(this.wordIndex, timeout)
    if (isGranted(outcome)) return this.becomeWriter(grant, outcome === grantedAbandoned)
    this.dispatch(native.eventLoop.completions())
    throw outcome === refused ? upgradeError(this) : this.timeoutError(timeout)
  }

  modeOf(ask) {
    return ask === read ? 'shared' : 'exclusive'
  }

  beganHold(isWriter) {
    if (isWriter) this.shared.isHeld = true
    else this.shared.reads++
    this.changed()
  }

  endedHold(isWriter) {
    if (isWriter) this.shared.isHeld = false
    else this.shared.reads--
  }

  /** Ends `grant`: its holder is about to release, to upgrade or to downgrade. */
  endGrant(grant) {
    grant.end()
  }

  endRead(grant) {
    checkStackToRelease()
    grant.isOver = true
    if (grant.pending !== null) {
      this.leave(grant.pending, endedError(this))
      // Too late: it is the writer already, and releases when its completion arrives.
      if (grant.pending !== null) return
    }
    this.endGrant(grant)
    this.letGo(grant, false)
  }

  endWrite(grant) {
    checkStackToRelease()
    this.endGrant(grant)
    this.letGo(grant, true)
  }

  letGo(_grant, isWriter) {
    const count = this.unlock(isWriter)
    this.endedHold(isWriter)
    this.dispatch(count)
  }

  /** Unlocks in C++. Returns the number of completions. */
  unlock(isWriter) {
    const { unlockRead, unlockWrite } = this.kind.native
    return isWriter ? unlockWrite(this.wordIndex) : unlockRead(this.wordIndex)
  }

  /** Ends a grant that reports a death and that no caller has seen: the next grant reports it instead. */
  abandon(grant, isWriter) {
    if (grant.isOver) return
    checkStackToRelease()
    this.endGrant(grant)
    const count = this.kind.native.abandon(this.wordIndex, +isWriter)
    this.endedHold(isWriter)
    this.dispatch(count)
  }

  /** Makes the reader of `grant` the writer, and returns the writer's releaser. */
  becomeWriter(grant, isAbandoned) {
    this.endGrant(grant)
    this.endedHold(false)
    const release = releaserOf(this, true, isAbandoned)
    this.changed()
    return release
  }

  /** Makes the writer a reader, and admits the readers at the head of the queue. */
  downgrade(grant) {
    checkStackToRelease()
    this.endGrant(grant)
    const count = this.kind.native.downgrade(this.wordIndex)
    this.endedHold(true)
    // Report the downgrade only after those readers have entered, because the observer may use other locks.
    const release = releaserOf(this, false, false, false)
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

Object.assign(SharedRWLock.prototype, runs)

SharedRWLock.prototype.kind = kindOf('read-write lock', 'rwLock')

module.exports = { SharedRWLock }
