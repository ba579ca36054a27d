'use strict'
// What a lock over an engine has in common with others of its kind: first its own line, where the promises of this
// thread wait for each other, then a lease of the server, which they pass on (cohort.js). It stands where a core
// of lib/ does, in keyed maps too.
const { withDeadline } = require('../deadline.js')
const { E_CANCELED, lockError } = require('../errors.js')
const { nameOf, toText } = require('../keys.js')
const { Cohort } = require('./cohort.js')

class LineCore {
  #hub
  #prefix
  #capacity
  #cohort = null

  /** `local` is the core of its own line; `kind` and `name` are for the server and for messages. */
  constructor(local, { hub, kind, name, prefix, capacity }) {
    this.local = local
    this.kind = kind
    this.name = name
    this.#hub = hub
    this.#prefix = prefix
    this.#capacity = capacity
    // For the home of a keyed map.
    this.home = null
    this.share = null
    this.pins = 0
    this.generation = 0
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
    return this.pins === 0 && this.inside === 0 && this.local.isIdle() && !this.local.hasLine()
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
    return this.local.queueSize()
  }

  cancel(reason = this.cancelError) {
    this.local.cancel(reason)
    this.rest()
  }

  /** The server does not answer: nobody of ours could get in. */
  failed(error) {
    this.local.cancel(error)
  }

  timeoutError(timeout) {
    const silent = this.#cohort?.silence()
    if (silent !== undefined && timeout > 0) return silent.silence(timeout)
    return lockError('ERR_LOCK_TIMEOUT', `${this.title()} was not available within ${timeout} ms`)
  }

  /**
   * A promise for a hold: `enter(limits)` is a promise for a place of ours, a function that lets go of it. `wish` as
   * in cohort.js.
   */
  async acquire(wish, limits, enter) {
    const { priority, timeout, signal } = limits
    this.inside++
    try {
      if (timeout === undefined) {
        return await this.#acquire(wish, { priority, signal }, enter)
      }
      if (timeout === 0) {
        const now = { ...wish, isToWait: false, late: () => this.timeoutError(0) }
        return await this.#acquire(now, { priority, timeout, signal }, enter)
      }
      const limit = withDeadline(signal, timeout, () => this.timeoutError(timeout))
      limit.start()
      try {
        return await this.#acquire(wish, { priority, signal: limit.signal }, enter)
      } finally {
        limit.end()
      }
    } catch (error) {
      this.inside--
      this.rest()
      throw error
    }
  }

  async #acquire(wish, limits, enter) {
    const { signal } = limits
    if (signal?.aborted) throw signal.reason
    let leave
    try {
      leave = await enter(limits)
    } catch (error) {
      throw error.code === 'ERR_LOCK_TIMEOUT' ? this.timeoutError(limits.timeout) : error
    }
    const cohort = this.cohort()
    let hold
    try {
      const taken = cohort.take(wish, signal)
      hold = taken instanceof Promise ? await taken : taken
    } catch (error) {
      this.#letGo(leave)
      cohort.leave()
      throw error
    }
    hold.leaveLine = leave
    return hold
  }

  /** The next ones of ours come in, if any; their leases are there for them. */
  #letGo(leave) {
    this.cohort().expect(leave())
  }

  give(hold) {
    if (hold.isOver) return
    hold.isOver = true
    this.#letGo(hold.leaveLine)
    this.cohort().leave(hold)
    this.inside--
    this.rest()
  }
}

module.exports = { LineCore }
