'use strict'
// What a lock over an engine has in common with others of its kind: first its own line, where the promises of this
// thread wait for each other, then a lease of the server, which they pass on (cohort.js). It stands where a core
// of lib/ does, in keyed maps too.
const { withDeadline } = require('../core/deadline.js')
const { E_CANCELED, lockError } = require('../core/errors.js')
const { nameOf, toText } = require('../core/keys.js')
const { dressed, unseen } = require('../core/releaser.js')
const { Cohort } = require('./cohort.js')

class LineCore {
  #hub
  #prefix
  #capacity
  #cohort = null

  /** `local` is the core of its own line; `kind` and `name` are for the server and for messages. */
  constructor(local, { hub, kind, name, prefix, capacity, isStrict }) {
    this.local = local
    this.kind = kind
    this.name = name
    this.#hub = hub
    this.#prefix = prefix
    this.#capacity = capacity
    this.isStrict = isStrict
    // For the home of a keyed map.
    this.home = null
    this.share = null
    this.pins = 0
    this.generation = 0
    /** No form of it blocks: each says so itself. */
    this.mayBlock = true
    /** Callers between the two lines, or in. */
    this.inside = 0
    this.cancelError = E_CANCELED
  }

  title() {
    if (this.home === null) return `the ${this.kind} ${nameOf(this.name)}`
    const map = this.name === undefined ? '' : ` in ${nameOf(this.name)}`
    return `the ${this.kind} of key ${nameOf(this.key)}${map}`
  }

  cohort() {
    const text = this.home === null ? this.#prefix : this.#prefix + toText(this.key)
    this.#cohort ??= new Cohort(this.#hub, text, this.#capacity, this)
    return this.#cohort
  }

  isIdle() {
    return this.pins === 0 && this.inside === 0 && this.local.isIdle()
  }

  /** Whoever is through calls it: its key may be idle now. */
  rest() {
    if (this.home === null || !this.isIdle()) return
    this.generation++
    this.#cohort = null
    this.home.drop(this)
  }

  isLocked() {
    return this.local.isLocked()
  }

  queueSize() {
    return this.local.queueSize() + (this.#cohort?.waiting() ?? 0)
  }

  cancel(reason = this.cancelError) {
    this.local.cancel(reason)
    this.#cohort?.cancel(reason)
  }

  /** The server does not answer: nobody of ours could get in. */
  failed(error) {
    this.local.cancel(error)
  }

  /** Where the server has not answered: the error that says so. */
  silence(timeout) {
    return timeout > 0 ? this.#cohort?.silence()?.silence(timeout) : undefined
  }

  timeoutError(timeout) {
    const silence = this.silence(timeout)
    if (silence !== undefined) return silence
    return lockError('ERR_LOCK_TIMEOUT', `${this.title()} was not available within ${timeout} ms`)
  }

  /**
   * A promise for a hold that `wish` (see cohort.js) describes. The class derived from this one has
   * enter(wish, limits), a promise for a place in, of its own line, and leaveLine(wish, place), which lets go of it
   * and says how much that has let in.
   */
  take(wish, limits) {
    return this.observer === null ? this.#take(wish, limits) : this.#observe(wish, limits)
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
    return this.#go({ ...wish, isToWait: false }, limits, signal)
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
    this.inside++
    let place
    let isIn = false
    try {
      place = await this.enter(wish, limits)
      isIn = true
      const taken = this.cohort().take(wish, signal)
      const hold = taken instanceof Promise ? await taken : taken
      hold.place = place
      return hold
    } catch (error) {
      if (isIn) this.#letGo(wish, place)
      this.#end()
      throw isIn || limits?.timeout !== 0 || error === signal?.reason ? error : this.timeoutError(0)
    }
  }

  give(hold) {
    if (hold.isOver) return
    if (this.observer !== null) this.observer.ended(hold.observed, hold.observed.units)
    hold.isOver = true
    this.#letGo(hold.wish, hold.place, hold)
    this.#end()
  }

  /** What is more than `units` of it is for others. */
  reduce(hold, units) {
    const { wish } = hold
    if (this.observer !== null) this.observer.ended(hold.observed, wish.units - units)
    hold.wish = { ...wish, units, cost: units }
    hold.slot.shrink(units)
    this.cohort().expect(this.leaveLine({ ...wish, units: wish.units - units }, hold.place))
    this.cohort().leave(undefined)
  }

  /** For one whose caller never saw it. */
  giveUnseen(hold) {
    if (!hold.isOver) hold.unsee()
    this.give(hold)
  }

  /** The next ones of ours come in, if any; their leases are there for them. */
  #letGo(wish, place, hold) {
    const cohort = this.cohort()
    cohort.expect(this.leaveLine(wish, place))
    cohort.leave(hold)
  }

  #end() {
    this.inside--
    if (this.inside === 0) this.#hub.dismiss(this)
    this.rest()
  }

  /** `held`, with what an observer sees. */
  seen(held) {
    return this.observer === null ? held : this.observer.seen(held)
  }

  memory() {
    throw new TypeError(
      `${this.title()} lies in no memory: construct it with the same engine and name`,
    )
  }

  /** What callers get. */
  releaser(hold) {
    const release = dressed(() => this.give(hold), hold.isAbandoned)
    release.fencingToken = hold.token
    release[holdKey] = hold
    if (hold.isAbandoned) release[unseen] = () => this.giveUnseen(hold)
    return Object.defineProperty(release, 'signal', signalProperty)
  }
}

/** Is called at each step, where the lock has diagnostics, as that of a local lock. */
LineCore.prototype.observer = null

const holdKey = Symbol('hold')

/** One for all of them; made when somebody asks for it. */
const signalProperty = {
  configurable: true,
  enumerable: true,
  get() {
    return this[holdKey].signal
  },
}

module.exports = { LineCore }
