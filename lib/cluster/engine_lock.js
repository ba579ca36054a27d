'use strict'
// The base of all locks over an engine. The callers of this thread first queue in a local lock. The admitted callers
// share leases of the server, and pass them on (cohort.js). It takes the place of a local lock, also in keyed maps.
const { throwIfAborted } = require('../core/abort.js')
const { withDeadline } = require('../core/following.js')
const { toText } = require('../core/key_text.js')
const { AnyLock } = require('../core/lock.js')
const { observed } = require('../core/platform.js')
const { checkStack, checkStackToRelease } = require('../core/stack.js')
const { asynchronous } = require('./asynchronous.js')
const { Cohort, behind } = require('./cohort.js')
const { elsewhereHint, lostHint } = require('./errors.js')

class EngineLock extends AnyLock {
  #prefix
  #cohort = null
  /** Whether a lease ends though its holder has not released. */
  #hasEnds
  /** Callers that wait, here or for the server, and callers that hold: { mode, isIn, isPassing, canceled }. */
  callers = new Set()
  /** How many of them wait in the local lock, or have left its queue in this turn of the event loop. */
  #entering = 0
  /** How many of them only wait for the lock to be free: waitForUnlock(). */
  passers = 0
  /** Whether any object of this thread has `fairness: 'fifo'`. */
  isStrict = false

  /** `local` is the local lock. `kind` and `name` are part of the key at the server, and of messages. */
  constructor(local, { hub, kind, name, prefix, capacity, times }) {
    super()
    this.local = local
    this.kind = kind
    if (kind === 'lock') this.hasDiagnostics = false
    this.name = name
    this.hub = hub
    this.#prefix = prefix
    this.capacity = capacity
    this.times = times
    this.#hasEnds = times?.maxHold !== Infinity
    /** For pending.js, which reports callers that wait in the local lock under the title of this lock. */
    local.outer = this
  }

  beStrict() {
    this.isStrict = true
  }

  cohort() {
    if (this.#cohort === null) {
      const key = this.keyMap === null ? this.#prefix : this.#prefix + toText(this.key)
      this.#cohort = new Cohort(this, key)
    }
    return this.#cohort
  }

  isIdle() {
    if (this.key === undefined) return !this.hasCallers()
    return this.pins === 0 && this.callers.size === 0 && this.local.isIdle()
  }

  hasCallers() {
    return this.pins > 0 || this.callers.size > this.passers
  }

  /** Resolves when the lock is idle, and the server has been told. */
  async onIdle() {
    await this.hub.idle(super.onIdle(), this.times)
  }

  /** Resolves when the server has been told of all leases that have ended here. */
  told() {
    return this.hub.leaving.ended()
  }

  reportIdle() {
    if (this.idleListener === null) return
    if (this.key !== undefined && this.isIdle()) this.#cohort = null
    super.reportIdle()
  }

  queueSize() {
    return this.local.queueSize() + (this.#cohort?.waiting ?? 0)
  }

  /** Counts the callers that ask the server in this turn of the event loop, too, but for one: it may be the holder. */
  pending() {
    const here = Math.max(this.local.queueSize(), this.#entering - 1)
    return here + (this.#cohort?.waiting ?? 0) - this.passers
  }

  cancel(reason) {
    // Also those that the local lock has admitted in this turn of the event loop, which have not asked the server yet.
    for (const caller of this.callers) if (!caller.isPassing) caller.canceled = reason
    this.local.cancel(reason)
    this.#cohort?.cancel(reason)
  }

  /** Rejects all waiters of this thread, because the server does not answer. */
  failed(error) {
    this.local.endAll(error)
  }

  /** Returns an error if the server has not answered, else undefined. */
  silence(timeout) {
    return timeout > 0 ? this.#cohort?.silence(timeout) : undefined
  }

  timeoutError(timeout) {
    return this.silence(timeout) ?? super.timeoutError(timeout)
  }

  /** Diagnostics only know the holders of this process. So this adds that another process may hold the lock. */
  holdersHint(timeout, what = 'it') {
    const hint = super.holdersHint(timeout, what)
    if (hint === '' || this.#cohort?.isHeld()) return hint
    const isLost = this.local.isLocked() && !this.#cohort?.isAsking()
    return isLost ? lostHint(what) : elsewhereHint(what, this.times)
  }

  hint() {
    const reason = this.#cohort?.reason
    return reason === undefined ? '' : `: ${reason}`
  }

  /**
   * Resolves to a hold that fits `wish` (see cohort.js), or with `ifAvailable` perhaps to undefined. Derived classes
   * implement enterLocal(wish, limits), which so resolves to a grant of the local lock, and leaveLocal(wish,
   * localGrant), which releases that grant.
   */
  take(wish, limits) {
    const isFull = this.isFull(limits.maxPending)
    if (isFull || limits.timeout === 0) return this.#takeNow(wish, limits, isFull)
    const isWatched = this.observer !== null && !wish.isToStay
    return isWatched ? this.#observe(wish, limits) : this.#take(wish, limits)
  }

  /** As take(), for a caller that may not wait. */
  async #takeNow(wish, { ifAvailable, maxPending, priority, signal }, isFull) {
    const observer = wish.isToStay ? null : this.observer
    const now = { priority, timeout: 0, signal, ifAvailable: true }
    const refuse = () => {
      if (!ifAvailable) throw isFull ? this.fullError(maxPending) : this.timeoutError(0)
    }
    try {
      const hold = await this.#go({ ...wish, isToWait: false }, now, refuse)
      if (hold !== undefined && observer !== null) this.begun(hold, null)
      return hold
    } catch (error) {
      if (observer !== null) observed.refused(observer, wish.mode, weightOf(wish), error)
      throw error
    }
  }

  /** As #take(), with an observer: reports a wait before every grant, even if the caller takes a lease that is here. */
  async #observe(wish, limits) {
    const { observer } = this
    const waiter = { mode: wish.mode, weight: weightOf(wish), priority: limits.priority }
    const taken = this.#take(wish, limits, waiter)
    observed.waiting(observer, waiter, taken)
    try {
      const hold = await taken
      this.begun(hold, waiter)
      return hold
    } catch (error) {
      observed.gaveUp(observer, waiter, error)
      throw error
    }
  }

  /** Tells the observer of `hold`. `waiter` is null if its caller has not waited. */
  begun(hold, waiter) {
    const { isAbandoned, wish } = hold
    hold.observed = observed.granted(this.observer, wish.mode, weightOf(wish), waiter, isAbandoned)
  }

  #take(wish, limits, waiter) {
    if (limits.timeout !== undefined) return this.#acquireInTime(wish, limits, waiter)
    const { priority, signal } = limits
    return this.#go(wish, { priority, timeout: undefined, signal })
  }

  async #acquireInTime(wish, { priority, timeout, signal }, waiter) {
    const limit = withDeadline(signal, timeout, () => {
      const error = this.timeoutError(timeout)
      if (waiter !== undefined) observed.timedOut(this.observer, waiter, error)
      return error
    })
    const stop = this.hub.afterStart((passed) => limit.start(timeout - passed))
    try {
      return await this.#go(wish, { priority, timeout: undefined, signal: limit.signal })
    } finally {
      stop()
      limit.end()
    }
  }

  /** Resolves to a hold. If there is none and the wish may not wait, calls refuse(), and resolves to undefined. */
  async #go(wish, limits, refuse) {
    throwIfAborted(limits.signal)
    const caller = { mode: wish.mode, isIn: false, isPassing: wish.isToStay, canceled: undefined }
    this.callers.add(caller)
    if (caller.isPassing) this.passers++
    let localGrant
    let hold
    try {
      for (;;) {
        this.hub.admit(this)
        this.countEntering(1)
        try {
          localGrant = await this.enterLocal(wish, limits)
        } finally {
          this.countEntering(-1)
        }
        if (localGrant === undefined) break
        const taken = this.cohort().take(wish, limits.signal, caller.canceled)
        hold = taken instanceof Promise ? await taken : taken
        if (hold !== behind) break
        hold = undefined
        this.#letGo(wish, localGrant)
        localGrant = undefined
      }
      if (hold === undefined) refuse()
      return hold?.begin(localGrant, caller)
    } finally {
      if (hold === undefined) {
        // A lease may have been kept for this caller, even if the local lock has not admitted it.
        this.#letGo(wish, localGrant)
        this.#end(caller)
      }
    }
  }

  /** Counts a caller of the local lock: 1 before it enters, and -1 when it has been admitted or rejected. */
  countEntering(change) {
    this.#entering += change
    if (this.#hasEnds) this.hub.countWaits(change)
  }

  /** Returns `waiting`, which waits for a holder of this thread. A maxHold keeps the process alive meanwhile. */
  during(waiting) {
    return this.#hasEnds ? this.hub.during(waiting) : waiting
  }

  /** Whether callers that have left the queue of the local lock will run in this turn of the event loop. */
  isExpecting() {
    return this.#entering > this.local.queueSize()
  }

  give(hold) {
    if (hold.isOver) return
    // A recursive mutex needs more of the stack, because it moves the callers that wait inside its holds.
    if (this.holds === undefined) checkStackToRelease()
    else checkStack()
    if (hold.observed !== undefined) {
      observed.ended(this.observer, hold.observed, hold.observed.units)
      // A subscriber may have released this hold.
      if (hold.isOver) return
    }
    hold.isOver = true
    this.#letGo(hold.wish, hold.localGrant, hold)
    this.#end(hold.caller)
  }

  /** Gives back all but `units` of the hold. */
  reduce(hold, units) {
    const { wish } = hold
    if (hold.observed !== undefined)
      observed.ended(this.observer, hold.observed, wish.units - units)
    if (hold.isOver) return
    hold.wish = { ...wish, units }
    this.cohort().shrink(hold.lease, units)
    this.#letGo({ ...wish, units: wish.units - units }, hold.localGrant)
  }

  /** Releases the local lock, which admits the next waiters of this thread, and passes the lease on to them. */
  #letGo(wish, localGrant, hold) {
    if (localGrant !== undefined) this.leaveLocal(wish, localGrant)
    this.#cohort?.release(hold)
  }

  #end(caller) {
    this.callers.delete(caller)
    if (caller.isPassing) this.passers--
    if (this.callers.size === 0) this.hub.dismiss(this)
    this.reportIdle()
  }
}

/** Returns what diagnostics count: the units of a semaphore, and 1 for any other hold. */
const weightOf = ({ mode, units }) => (mode === undefined ? units : 1)

Object.assign(EngineLock.prototype, asynchronous, {
  scope: 'cluster',
  /** The number of units of a lease that callers share, or undefined if they share none. */
  sharedUnits: undefined,
})

module.exports = { EngineLock }
