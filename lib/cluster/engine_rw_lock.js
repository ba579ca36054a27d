'use strict'
// A read-write lock over an engine. All readers of this thread share one lease of one unit; a writer has all units. An
// upgrading reader keeps its unit and requests all others (upgrade_lease.js). A downgrading writer gives back all but
// one.
const { reasonOf, throwIfAborted } = require('../core/abort.js')
const { following, withDeadline } = require('../core/following.js')
const { runs } = require('../core/rw_runs.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { LocalRWLock } = require('../core/rw_lock.js')
const { endedError, upgradeError } = require('../core/rw_errors.js')
const { readUpgrade } = require('../core/rw_releaser.js')
const { Reader, Writer } = require('../core/rw_waiters.js')
const { EngineLock } = require('./engine_lock.js')
const { observed } = require('../core/platform.js')
const { Hold, releaserOf } = require('./hold.js')

/** The units of a lock. There are never as many agents that read at once. */
const all = 2 ** 20
const reads = { mode: 'shared', isToWait: true }
const writes = { mode: 'exclusive', isToWait: true }
const read = Object.freeze({ ...reads, units: 1 })
const write = Object.freeze({ ...writes, units: all })
/** The wish of an upgrade, whose caller the local lock has already admitted. */
const upgrade = Object.freeze({ ...writes, units: all - 1 })

class EngineRWLock extends EngineLock {
  constructor(traits) {
    super(new LocalRWLock(), { ...traits, capacity: all })
    /** The number of upgrades that wait for this thread's other readers. */
    this.rising = 0
  }

  enterLocal({ units }, limits) {
    return this.local.enter(limits, units === all ? Writer : Reader)
  }

  leaveLocal(_wish, release) {
    release()
  }

  acquireRead(options) {
    return this.#acquire(read, readWait(options, acquireOptions))
  }

  acquireWrite(options) {
    return this.#acquire(write, readWait(options, acquireOptions))
  }

  async #acquire(wish, limits) {
    const hold = await this.take(wish, limits)
    if (hold === undefined) return undefined
    return wish === write ? this.#writer(hold) : this.#reader(hold)
  }

  #reader(hold) {
    const release = releaserOf(this, hold)
    release.upgrade = (options) => {
      // Read options first: a getter among them may release the lock.
      const limits = readUpgrade(options)
      if (hold.loss === undefined) this.#checkHeld(hold)
      const upgraded =
        this.observer === null ? this.#upgrade(hold, limits) : this.#observeUpgrade(hold, limits)
      return limits.ifAvailable ? orNothing(upgraded) : upgraded
    }
    release.tryUpgrade = this.tryUpgrade
    release.upgradeSync = this.upgradeSync
    return release
  }

  #writer(hold) {
    const release = releaserOf(this, hold)
    release.downgrade = () => {
      this.#checkHeld(hold)
      return this.#downgrade(hold)
    }
    return release
  }

  #checkHeld(hold) {
    if (hold.isOver || hold.isLeaving) throw hold.loss ?? endedError(this)
  }

  give(hold) {
    if (hold.isOver) return
    if (hold.upgrading === undefined) {
      super.give(hold)
      return
    }
    // The upgrade, when it settles, releases the hold.
    hold.isLeaving = true
    hold.upgrading.abort(endedError(this))
  }

  /** As #upgrade(), with an observer. */
  async #observeUpgrade(hold, limits) {
    const { observer } = this
    const isRefused = hold.upgrading !== undefined || this.local.upgrader !== null
    const isAtOnce = limits.timeout === 0 || isRefused
    const waiter = isAtOnce ? null : { mode: 'exclusive', weight: 1 }
    const upgraded = this.#upgrade(hold, limits, waiter)
    if (waiter !== null) observed.waiting(observer, waiter, upgraded)
    try {
      return await upgraded
    } catch (error) {
      if (waiter !== null) observed.gaveUp(observer, waiter, error)
      else if (!limits.ifAvailable) observed.refused(observer, 'exclusive', 1, error)
      throw error
    }
  }

  /** Upgrades. If it fails, the caller is still a reader. `waiter` is null if it may not wait, or has no observer. */
  async #upgrade(hold, { timeout, signal }, waiter = null) {
    throwIfAborted(signal)
    if (hold.loss !== undefined) throw hold.loss
    if (hold.upgrading !== undefined) throw upgradeError(this)
    const limit = withDeadline(signal, timeout, () => {
      const error = this.timeoutError(timeout)
      if (waiter !== null) observed.timedOut(this.observer, waiter, error)
      return error
    })
    const { controller, end } = following([limit.signal, hold.signal])
    hold.upgrading = controller
    // An earlier cancel() did not concern this upgrade.
    hold.caller.canceled = undefined
    if (timeout > 0) limit.start()
    try {
      await this.#rise(hold, timeout !== 0, controller.signal)
      const upper = await this.#takeRest(hold, timeout !== 0, controller.signal, waiter)
      return this.#writer(upper)
    } finally {
      hold.upgrading = undefined
      end()
      limit.end()
      if (hold.isLeaving) this.give(hold)
    }
  }

  /** Waits for the other readers of this thread, ahead of its queue. */
  async #rise(hold, isToWait, signal) {
    if (isToWait && this.rising++ === 0) this.cohort().rise(hold.lease)
    this.countEntering(1)
    try {
      const limits = { signal, timeout: isToWait ? undefined : 0 }
      hold.localGrant = await hold.localGrant.upgrade(limits)
    } catch (error) {
      if (error === reasonOf(signal)) throw error
      if (error.code === 'ERR_LOCK_UPGRADE') throw upgradeError(this)
      throw error.code === 'ERR_LOCK_TIMEOUT' ? this.timeoutError(0) : error
    } finally {
      this.countEntering(-1)
      if (isToWait && --this.rising === 0) this.cohort().risen()
    }
  }

  /** Upgrades at the server. The resulting hold includes the lease of `hold`. */
  async #takeRest(hold, isToWait, signal, waiter) {
    const cohort = this.cohort()
    try {
      const wish = { ...upgrade, isToWait, base: hold.lease }
      const upper = await cohort.take(wish, signal, hold.caller.canceled)
      if (upper === undefined) throw this.timeoutError(0)
      if (hold.isLeaving) {
        upper.markUndelivered()
        cohort.release(upper)
        throw endedError(this)
      }
      upper.under = hold
      // So readers that the new hold admits after the writer get later tokens, too.
      hold.lease.turn.follow(upper.lease.turn)
      return this.#succeed(upper, hold, hold.localGrant, waiter)
    } catch (error) {
      hold.localGrant = hold.localGrant.downgrade()
      cohort.release(undefined)
      throw error
    }
  }

  #downgrade(hold) {
    const { lease } = hold.under ?? hold
    // This admits the readers at the head of the local queue.
    const localGrant = hold.localGrant.downgrade()
    const next = this.#succeed(new Hold(lease, read), hold, localGrant)
    if (hold.under === undefined) this.cohort().shrink(lease, read.units)
    this.cohort().release(hold)
    return this.#reader(next)
  }

  /** Replaces `hold`, whose releaser has ended, by `next`. */
  #succeed(next, hold, localGrant, waiter = null) {
    if (hold.observed !== undefined) observed.ended(this.observer, hold.observed, 1)
    if (this.observer !== null) this.begun(next, waiter)
    hold.isOver = true
    next.follow(hold)
    next.localGrant = localGrant
    next.caller = hold.caller
    next.caller.mode = next.wish.mode
    return next
  }

  /** The local lock also counts the callers that wait for the server. */
  #count(mode) {
    let count = 0
    for (const caller of this.callers) if (caller.isIn && caller.mode === mode) count++
    return count
  }

  readers() {
    return this.#count('shared')
  }

  isWritten() {
    return this.#count('exclusive') > 0
  }

  isLocked() {
    return this.readers() > 0 || this.isWritten()
  }
}

Object.assign(EngineRWLock.prototype, runs, { sharedUnits: read.units })

/** Resolves to the result of `taken`, or to undefined if the lock is not available. */
async function orNothing(taken) {
  try {
    return await taken
  } catch (error) {
    if (['ERR_LOCK_TIMEOUT', 'ERR_LOCK_UPGRADE'].includes(error?.code)) return undefined
    throw error
  }
}

module.exports = { EngineRWLock }
