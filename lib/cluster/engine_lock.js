'use strict'
// What locks of all kinds over an engine have in common: first a local lock, where the promises of this thread wait for
// each other, then a lease of the server, which they pass on (cohort.js). It stands where a local lock does, in keyed
// maps too.
const { withDeadline } = require('../core/deadline.js')
const { E_CANCELED, lockError } = require('../core/errors.js')
const { nameOf, toText } = require('../core/keys.js')
const { AnyLock } = require('../core/lock.js')
const { makeReleaser, unseen } = require('../core/releaser.js')
const { Cohort } = require('./cohort.js')

class EngineLock extends AnyLock {
  #hub
  #prefix
  #capacity
  #times
  #cohort = null
  /** Those that wait, here or for the server, and those that are in: { mode, isIn }. */
  callers = new Set()

  /** `local` is the local lock; `kind` and `name` are for the server and for messages. */
  constructor(local, { hub, kind, name, prefix, capacity, isStrict, times }) {
    super()
    this.local = local
    this.kind = kind
    this.name = name
    this.#hub = hub
    this.#prefix = prefix
    this.#capacity = capacity
    this.#times = times
    this.isStrict = isStrict
  }

  title() {
    if (this.keyMap === null) return `the ${this.kind} ${nameOf(this.name)}`
    const map = this.name === undefined ? '' : ` in ${nameOf(this.name)}`
    return `the ${this.kind} of key ${nameOf(this.key)}${map}`
  }

  cohort() {
    const text = this.keyMap === null ? this.#prefix : this.#prefix + toText(this.key)
    this.#cohort ??= new Cohort(this.#hub, text, this.#capacity, this, this.#times)
    return this.#cohort
  }

  isIdle() {
    return this.pins === 0 && this.callers.size === 0 && this.local.isIdle()
  }

  /** And the server has heard of that. */
  async onIdle() {
    await super.onIdle()
    await this.#hub.left()
  }

  /** It may be idle now. */
  rest() {
    if (this.idleListener === null || !this.isIdle()) return
    if (this.key !== undefined) this.#cohort = null
    this.idleListener.drop(this)
  }

  isLocked() {
    return this.local.isLocked()
  }

  queueSize() {
    return this.local.queueSize() + (this.#cohort?.waiting() ?? 0)
  }

  cancel(reason = E_CANCELED) {
    this.local.cancel(reason)
    this.#cohort?.cancel(reason)
  }

  /** The server does not answer: no waiter of this thread could get in. */
  failed(error) {
    this.local.cancel(error)
  }

  /** Where the server has not answered: the error that says so. */
  silence(timeout) {
    return timeout > 0 ? this.#cohort?.silence(timeout) : undefined
  }

  timeoutError(timeout) {
    const message = `${this.title()} was not available within ${timeout} ms`
    return this.silence(timeout) ?? lockError('ERR_LOCK_TIMEOUT', message)
  }

  /**
   * A promise for a hold that `wish` (see cohort.js) describes, or with `ifAvailable` for undefined. The class derived from
   * this one has enterLocal(wish, limits), a promise for a place in the local lock, and leaveLocal(wish, place), which lets
   * go of it and returns how much that has let in.
   */
  take(wish, limits) {
    const { ifAvailable, maxPending } = limits
    const isFull = this.isFull(maxPending)
    const how = isFull ? { ...limits, timeout: 0 } : limits
    const taken = this.observer === null ? this.#take(wish, how) : this.#observe(wish, how)
    if (ifAvailable) return orNothing(taken)
    return isFull ? this.#orFull(taken, maxPending) : taken
  }

  async #orFull(taken, maxPending) {
    const hold = await orNothing(taken)
    if (hold === undefined) throw this.fullError(maxPending)
    return hold
  }

  /** Each hold is waited for: by a server, or for a lease that is here. */
  async #observe(wish, limits) {
    const { observer } = this
    const { mode, units } = wish
    const waiter = { mode, weight: mode === undefined ? units : 1, priority: limits.priority }
    const taken = this.#take(wish, limits, waiter)
    observer.waiting(waiter, taken)
    try {
      const hold = await taken
      hold.observed = observer.granted(mode, waiter.weight, waiter, hold.isAbandoned)
      return hold
    } catch (error) {
      observer.gaveUp(waiter, error)
      throw error
    }
  }

  #take(wish, limits, waiter) {
    const { priority, timeout, signal } = limits
    if (timeout === undefined) {
      const isUsual = priority === 0 && signal === undefined
      return this.#go(wish, isUsual ? undefined : { priority, signal }, signal)
    }
    if (timeout > 0) return this.#acquireInTime(wish, limits, waiter)
    return this.#go({ ...wish, isToWait: false }, { priority, timeout, signal }, signal)
  }

  async #acquireInTime(wish, { priority, timeout, signal }, waiter) {
    const limit = withDeadline(signal, timeout, () => {
      const error = this.timeoutError(timeout)
      if (waiter !== undefined) this.observer.timedOut(waiter, error)
      return error
    })
    limit.start()
    try {
      return await this.#go(wish, { priority, signal: limit.signal }, limit.signal)
    } finally {
      limit.end()
    }
  }

  async #go(wish, limits, signal) {
    if (signal?.aborted) throw signal.reason
    this.#hub.admit(this)
    const caller = { mode: wish.mode, isIn: false }
    this.callers.add(caller)
    let place
    let isIn = false
    try {
      place = await this.enterLocal(wish, limits)
      isIn = true
      const taken = this.cohort().take(wish, signal)
      const hold = taken instanceof Promise ? await taken : taken
      hold.place = place
      hold.caller = caller
      caller.isIn = true
      return hold
    } catch (error) {
      if (isIn) this.#letGo(wish, place)
      this.#end(caller)
      throw isIn || limits?.timeout !== 0 || error === signal?.reason ? error : this.timeoutError(0)
    }
  }

  give(hold) {
    if (hold.isOver) return
    if (this.observer !== null) this.observer.ended(hold.observed, hold.observed.units)
    hold.isOver = true
    this.#letGo(hold.wish, hold.place, hold)
    this.#end(hold.caller)
  }

  /** It is held for longer than the maxHold of this lock. Its caller may go on, but no waiter of this thread waits for that. */
  end(hold) {
    this.give(hold)
  }

  /** What is more than `units` of it is for others. */
  reduce(hold, units) {
    const { wish } = hold
    if (this.observer !== null) this.observer.ended(hold.observed, wish.units - units)
    hold.wish = { ...wish, units, cost: units }
    hold.lease.shrink(units)
    this.#letGo({ ...wish, units: wish.units - units }, hold.place)
  }

  /** For a hold that no caller has seen. */
  giveUnseen(hold) {
    if (!hold.isOver) hold.unsee()
    this.give(hold)
  }

  /** The next waiters of this thread come in, if any; their leases are there for them. */
  #letGo(wish, place, hold) {
    const cohort = this.cohort()
    cohort.expect(this.leaveLocal(wish, place))
    cohort.leave(hold)
  }

  #end(caller) {
    this.callers.delete(caller)
    if (this.callers.size === 0) this.#hub.dismiss(this)
    this.rest()
  }

  memory() {
    throw new TypeError(
      `${this.title()} lies in no memory: construct it with the same engine and name`,
    )
  }

  /** What callers get. */
  releaser(hold) {
    const release = makeReleaser(() => this.give(hold), hold.isAbandoned)
    release.fencingToken = hold.token
    release[holdKey] = hold
    if (hold.isToUnsee()) release[unseen] = () => this.giveUnseen(hold)
    return Object.defineProperty(release, 'signal', signalProperty)
  }
}

/** What `taken` promises, or undefined where it is not available. */
async function orNothing(taken) {
  try {
    return await taken
  } catch (error) {
    if (error.code === 'ERR_LOCK_TIMEOUT') return undefined
    throw error
  }
}

/** What cannot be answered without asking the server, and what to call instead. */
const asynchronous = {
  tryLock: 'acquire() with { ifAvailable: true }',
  tryAcquire: 'acquire() with { ifAvailable: true }',
  lockSync: 'lock()',
  acquireSync: 'acquire()',
  runExclusiveSync: 'runExclusive()',
  tryAcquireRead: 'acquireRead() with { ifAvailable: true }',
  tryAcquireWrite: 'acquireWrite() with { ifAvailable: true }',
  acquireReadSync: 'acquireRead()',
  acquireWriteSync: 'acquireWrite()',
  tryUpgrade: 'upgrade({ ifAvailable: true })',
  upgradeSync: 'upgrade()',
}
for (const [method, instead] of Object.entries(asynchronous)) {
  EngineLock.prototype[method] = () => {
    throw new TypeError(`${method}() cannot wait for the answer of an engine: use ${instead}`)
  }
}

/** It lies in no memory that threads share. */
EngineLock.prototype.share = null

const holdKey = Symbol('hold')

/** One for all of them; made when a caller asks for it. */
const signalProperty = {
  configurable: true,
  enumerable: true,
  get() {
    return this[holdKey].signal
  },
}

module.exports = { EngineLock, orNothing }
