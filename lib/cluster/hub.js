'use strict'
// What all locks of one engine share in this thread: its session, and what is called when something happens.
const { randomBytes } = require('node:crypto')
const { clearTimeout, setTimeout } = require('node:timers')
const { setTimeout: after } = require('node:timers/promises')
const { longestTimeout } = require('../core/options.js')
const { now } = require('./clock.js')
const { closedError, engineError } = require('./errors.js')
const { Keeper } = require('./keeper.js')
const { inTime, pause } = require('./patience.js')

class Hub {
  #canConfirm
  #keeper
  /** Why the connection that listens does not stand: it goes on trying. */
  deafness
  #session = null
  #opening = null
  #watch
  /** When it looks. */
  #watchEnd = Number.POSITIVE_INFINITY
  /** By name, as long as an object of that name, or its lock, is referenced. */
  #shared = new Map()
  #forgotten = new FinalizationRegistry((name) => {
    if (this.#shared.get(name)?.deref() === undefined) this.#shared.delete(name)
  })
  #cohorts = new Map()
  /** The locks with callers that wait or are in. */
  #locks = new Set()
  /** The leases that are held. */
  #held = new Set()
  /** Those that are over, of which the server is about to hear. */
  #leaving = new Map()

  constructor(driver, settings) {
    this.driver = driver
    this.#canConfirm = typeof driver.confirm === 'function'
    this.name = driver.name
    this.settings = settings
    this.isClosed = false
    /** How long a waiter has to confirm what it has been granted. */
    this.claim = Math.min(1000, settings.ttl)
    this.#keeper = new Keeper(driver.keeper, settings.ttl, (id, error) => {
      const session = this.#session
      if (session !== null && (id === undefined || id === session.id))
        this.lose(session, error.message, error)
    })
  }

  /** What the server has granted is held for longer: see engine.d.ts. */
  confirm(request) {
    return this.#canConfirm ? this.driver.confirm(request) : this.driver.enter(request)
  }

  /** What `make()` has made for `name`: once for all objects of that name. */
  shared(name, make) {
    const known = this.#shared.get(name)?.deref()
    if (known !== undefined) return known
    const core = make()
    this.#shared.set(name, new WeakRef(core))
    this.#forgotten.register(core, name)
    return core
  }

  /** `lock` has callers from now on. */
  admit(lock) {
    if (this.isClosed) throw closedError(this.name)
    this.#locks.add(lock)
  }

  /** It has none any more. */
  dismiss(lock) {
    this.#locks.delete(lock)
  }

  /** `cohort` has leases from now on. */
  join(cohort) {
    const others = this.#cohorts.get(cohort.key)
    if (others === undefined) this.#cohorts.set(cohort.key, new Set([cohort]))
    else others.add(cohort)
  }

  part(cohort) {
    const all = this.#cohorts.get(cohort.key)
    all.delete(cohort)
    if (all.size === 0) this.#cohorts.delete(cohort.key)
  }

  /** Why a connection of ours does not stand, if the server is away, or turns us away. */
  get trouble() {
    return this.deafness ?? this.#keeper.trouble
  }

  /** The session, or a promise for it. */
  open() {
    if (this.#session?.isGood()) return this.#session
    if (this.isClosed) return Promise.reject(closedError(this.name))
    // First: waiters of the old one ask for another at once, which is to be the same for all.
    if (this.#session !== null) this.lose(this.#session, 'it was not renewed in time', this.trouble)
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #open() {
    const id = randomBytes(9).toString('base64url')
    await this.driver.listen(id, this.#hear())
    // A closed keeper would start a thread anew, which does not end.
    if (this.isClosed) throw closedError(this.name)
    const session = await this.#keeper.open(id)
    if (this.isClosed) throw closedError(this.name)
    this.#session = session
    return session
  }

  #hear() {
    return {
      granted: (id, grant) =>
        // What cannot be confirmed is asked for.
        this.#session?.leases.get(id)?.granted(this.#canConfirm ? grant : undefined),
      wanted: (key) => {
        for (const cohort of this.#cohorts.get(key) ?? []) cohort.isWanted()
      },
      trouble: (error) => {
        this.deafness = error
        if (error === undefined) return
        for (const lease of this.#session?.leases.values() ?? []) lease.deafened()
      },
      missed: () => {
        for (const cohorts of this.#cohorts.values()) for (const one of cohorts) one.isWanted()
        for (const lease of this.#session?.leases.values() ?? []) lease.ask()
      },
    }
  }

  /** `session` is over, and with it all that it holds. */
  lose(session, why, cause) {
    if (session.isOver) return
    session.isOver = true
    if (this.#session === session) this.#session = null
    const leases = [...session.leases.values()]
    session.leases.clear()
    for (const lease of leases) lease.sessionEnded(why, cause)
    for (const lease of this.#leaving.keys()) if (lease.session === session) this.hasLeft(lease)
  }

  /** `lease` is over: until hasLeft() the server counts it as ours. */
  leaves(lease) {
    const leaving = {}
    leaving.promise = new Promise((resolve) => {
      leaving.resolve = resolve
    })
    this.#leaving.set(lease, leaving)
  }

  hasLeft(lease) {
    this.#leaving.get(lease)?.resolve()
    this.#leaving.delete(lease)
  }

  /** Resolves when the server has heard of all leases that are over by now, or has ended their session. */
  async left() {
    await Promise.all(Array.from(this.#leaving.values(), ({ promise }) => promise))
  }

  /** `isUnsure`: a command of the request has failed, and may be carried out after this, by a server that was stuck. */
  async leave(session, request, isUnsure) {
    await this.#leave(session, request)
    if (!isUnsure) return
    await after(this.claim, undefined, { ref: false })
    await this.#leave(session, request)
  }

  /** Until the server has heard of it, or the session is over. */
  async #leave(session, request) {
    while (!session.isOver && !this.isClosed) {
      try {
        await this.driver.leave(request)
        return
      } catch {
        // Whatever it was: what the server still counts as ours would keep others out.
        // It does not keep the process alive: of one that has ended, the server forgets it by itself.
        await after(pause, undefined, { ref: false })
      }
    }
  }

  /** A lease is held: it is looked after from now on. */
  began(lease) {
    this.#held.add(lease)
    if (lease.until < this.#watchEnd) this.#arm()
  }

  ended(lease) {
    this.#held.delete(lease)
  }

  #arm() {
    clearTimeout(this.#watch)
    this.#watchEnd = Number.POSITIVE_INFINITY
    if (this.#held.size === 0) return
    let end = this.#session?.safeUntil() ?? Number.POSITIVE_INFINITY
    // Answers do not come in the order in which their leases end.
    for (const { until } of this.#held) if (until < end) end = until
    this.#watchEnd = end
    this.#watch = setTimeout(() => this.#check(), Math.max(1, end - now()))
    this.#watch.unref()
  }

  #check() {
    const session = this.#session
    if (session !== null && !session.isGood())
      this.lose(session, 'it was not renewed in time', this.trouble)
    const time = now()
    for (const lease of this.#held) if (lease.until <= time) lease.late()
    this.#arm()
  }

  async #endSession(session) {
    const requests = Array.from(session.leases.values(), (lease) => lease.leaving())
    this.lose(session, 'the engine has been closed')
    await Promise.all(requests.map((request) => this.driver.leave(request)))
    await this.driver.end(session.id)
  }

  async close() {
    if (this.isClosed) return
    this.isClosed = true
    clearTimeout(this.#watch)
    // A holder of this thread may never let go, and its waiters have not asked the server.
    for (const lock of [...this.#locks]) lock.failed(closedError(this.name))
    // Nothing that is waited for here keeps the process alive by itself.
    const awake = setTimeout(() => {}, longestTimeout)
    const { answerTimeout } = this.settings
    const late = () => engineError(this.name, 'the end of its session', answerTimeout, this.trouble)
    try {
      // A server that does not answer is not waited for: what it has not heard of ends with the session.
      if (this.#session !== null) await inTime(this.#endSession(this.#session), answerTimeout, late)
    } finally {
      await this.#keeper.close()
      await this.driver.close()
      clearTimeout(awake)
    }
  }
}

module.exports = { Hub }
