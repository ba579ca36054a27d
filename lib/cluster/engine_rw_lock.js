'use strict'
// A read-write lock over an engine: all readers of this thread share one lease of one unit, a writer has all units. A
// reader that upgrades keeps its unit, and asks for all others (upgrade_lease.js); a writer that downgrades gives back all
// but one.
const { following } = require('../core/abort.js')
const { withDeadline } = require('../core/deadline.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { LocalRWLock } = require('../core/rw_lock.js')
const { endedError, upgradeError } = require('../core/rw_errors.js')
const { EngineLock, orNothing } = require('./engine_lock.js')
const { Hold } = require('./hold.js')

/** More agents than ever read at once. */
const all = 2 ** 20
const reads = { mode: 'shared', isShared: true, isToWait: true }
const writes = { mode: 'exclusive', isShared: false, isToWait: true }
const read = Object.freeze({ ...reads, units: 1, cost: 1 })
const write = Object.freeze({ ...writes, units: all, cost: 1 })
/** What the local lock has let in already. */
const upgrade = Object.freeze({ ...writes, units: all - 1, cost: 0 })

class EngineRWLock extends EngineLock {
  constructor(traits) {
    super(new LocalRWLock(), { ...traits, capacity: all })
    /** How many wait for the other readers of this thread to become the writer. */
    this.rising = 0
  }

  enterLocal({ units }, limits) {
    return units === all ? this.local.acquireWrite(limits) : this.local.acquireRead(limits)
  }

  leaveLocal(_wish, release) {
    const others = this.local.isWritten() ? 0 : this.local.readers() - 1
    release()
    // A reader that upgrades is the first to be let in, and takes no lease but the one that it has.
    if (this.local.isWritten()) return this.rising > 0 ? 0 : 1
    return this.local.readers() - others
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
    const release = this.releaser(hold)
    release.upgrade = (options) => {
      // First: options may have getters, and they may let go.
      const limits = readWait(options, acquireOptions)
      this.#checkHeld(hold)
      const upgraded = this.#upgrade(hold, limits)
      return limits.ifAvailable ? orNothing(upgraded) : upgraded
    }
    release.tryUpgrade = this.tryUpgrade
    release.upgradeSync = this.upgradeSync
    return release
  }

  #writer(hold) {
    const release = this.releaser(hold)
    release.downgrade = () => {
      this.#checkHeld(hold)
      return this.#downgrade(hold)
    }
    return release
  }

  #checkHeld(hold) {
    if (hold.isOver || hold.isLeaving) throw endedError(this)
  }

  give(hold) {
    if (hold.isOver) return
    if (hold.upgrading === undefined) {
      super.give(hold)
      return
    }
    // The upgrade lets go when it has heard of this.
    hold.isLeaving = true
    hold.upgrading.abort(endedError(this))
  }

  /** However it fails, the reader reads on. */
  async #upgrade(hold, { timeout, signal }) {
    if (signal?.aborted) throw signal.reason
    if (hold.upgrading !== undefined) throw upgradeError(this)
    const limit = withDeadline(signal, timeout, () => this.timeoutError(timeout))
    const { controller, end } = following([limit.signal, hold.signal])
    hold.upgrading = controller
    if (timeout > 0) limit.start()
    try {
      await this.#rise(hold, timeout !== 0, controller.signal)
      const upper = await this.#takeRest(hold, timeout !== 0, controller.signal)
      return this.#writer(upper)
    } finally {
      hold.upgrading = undefined
      end()
      limit.end()
      if (hold.isLeaving) this.give(hold)
    }
  }

  /** Past all other readers of this thread, and ahead of its queue. */
  async #rise(hold, isToWait, signal) {
    this.rising++
    try {
      hold.place = await hold.place.upgrade({ signal, timeout: isToWait ? undefined : 0 })
    } catch (error) {
      if (error === signal.reason) throw error
      if (error.code === 'ERR_LOCK_UPGRADE') throw upgradeError(this)
      throw error.code === 'ERR_LOCK_TIMEOUT' ? this.timeoutError(0) : error
    } finally {
      this.rising--
    }
  }

  /** The same at the server. What it gives has the lease of `hold`, too. */
  async #takeRest(hold, isToWait, signal) {
    const cohort = this.cohort()
    try {
      const upper = await cohort.take({ ...upgrade, isToWait, base: hold.lease }, signal)
      if (hold.isLeaving) {
        upper.unsee()
        cohort.leave(upper)
        throw endedError(this)
      }
      upper.under = hold
      // Readers that come in by it after the writer have later tokens, too.
      hold.lease.turn.follow(upper.lease.turn)
      return this.#succeed(upper, hold, hold.place, write)
    } catch (error) {
      hold.place = this.#lower(hold)
      cohort.leave(undefined)
      throw error
    }
  }

  /** The local lock lets in the readers at the head of its queue. */
  #lower(hold) {
    const place = hold.place.downgrade()
    this.cohort().expect(this.local.readers() - 1)
    return place
  }

  #downgrade(hold) {
    const { lease } = hold.under ?? hold
    const place = this.#lower(hold)
    const next = this.#succeed(new Hold(lease, read), hold, place, read)
    if (hold.under === undefined) lease.shrink(read.units)
    this.cohort().leave(hold)
    return this.#reader(next)
  }

  /** `next` takes the place of `hold`, whose releaser is over. */
  #succeed(next, hold, place, { mode }) {
    const { observer } = this
    if (observer !== null) {
      observer.ended(hold.observed, 1)
      next.observed = observer.granted(mode, 1, null, next.isAbandoned)
    }
    hold.isOver = true
    next.follow(hold)
    next.place = place
    next.caller = hold.caller
    next.caller.mode = mode
    return next
  }

  readers() {
    return this.local.readers()
  }

  isWritten() {
    return this.local.isWritten()
  }

  snapshot() {
    const waiting = this.queueSize()
    return this.seen({ readers: this.readers(), written: this.isWritten(), waiting })
  }
}

module.exports = { EngineRWLock }
