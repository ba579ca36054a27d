'use strict'
// The state that all locks of one engine share in this thread: its session, and handlers of the
// server's messages.
const { randomBytes } = require('node:crypto')
const { longestTimeout } = require('../core/options.js')
const { processClock } = require('./clock.js')
const { closedError, untoldError } = require('./errors.js')
const { Keeper } = require('./keeper.js')
const { Leaving } = require('./leaving.js')
const { outside } = require('./outside.js')
const { inTime, longestClaim, noAnswer } = require('./patience.js')
const { leavingOf } = require('./requests.js')
const { Start } = require('./start.js')

class Hub {
  /** Why the listening connection is down, while it reconnects. */
  listeningError
  #session = null
  #opening = null
  /** Rejects the promise of #openOrEnd(). */
  #endOpening
  /** The timer that checks the session. */
  #watch
  /** WeakRefs to what the objects of one name share, by that name. */
  #shared = new Map()
  #forgotten = new FinalizationRegistry((name) => {
    if (this.#shared.get(name)?.deref() === undefined) this.#shared.delete(name)
  })
  #cohorts = new Map()
  /** The locks with callers that wait or hold. */
  #locks = new Set()
  /** How many leases this thread holds, and how many callers wait for a holder of this thread. */
  #held = 0
  #waits = 0
  #closing
  leaving = new Leaving(this)

  /** The last argument is for tests: a clock like processClock, and startThread() of keeper.js. */
  constructor(driver, settings, { clock = processClock, startThread } = {}) {
    this.clock = clock
    this.start = new Start(clock)
    this.driver = driver
    this.name = driver.name
    this.settings = settings
    this.isClosed = false
    /** When the driver's queue last moved on, by the clock of clock.js. */
    this.movedAt = 0
    /** How long a waiter has to confirm a grant. */
    this.claim = Math.min(longestClaim, settings.ttl)
    this.keeper = new Keeper(this, startThread)
  }

  /** The server extends a confirmed grant: see engine.d.ts. */
  confirm(request) {
    const { driver } = this
    return driver.confirm === undefined ? driver.enter(request) : driver.confirm(request)
  }

  /** Returns the result of `make()` for `name`, which all objects of that name share. */
  shared(name, make) {
    const known = this.#shared.get(name)?.deref()
    if (known !== undefined) return known
    const made = make()
    this.#shared.set(name, new WeakRef(made))
    this.#forgotten.register(made, name)
    return made
  }

  /** Called when `lock` gets a caller. */
  admit(lock) {
    if (this.isClosed) throw closedError(this.name)
    this.#locks.add(lock)
  }

  /** Called when `lock` has no more callers. */
  dismiss(lock) {
    this.#locks.delete(lock)
  }

  /** Called when `cohort` gets its first lease. */
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

  /** Why a connection is down, if the server is away or refuses it. */
  get trouble() {
    return this.listeningError ?? this.keeper.trouble ?? this.start.failure
  }

  /** Whether the first session has not been opened yet, and no attempt has failed. */
  get isStarting() {
    return !this.start.isDone && this.trouble === undefined
  }

  /** Calls `begin(passed)` when the start is over: see start.js. Returns a function that stops it. */
  afterStart(begin) {
    if (this.isStarting) return this.start.after(begin)
    begin(0)
    return () => {}
  }

  /** Returns the session, or a promise for it. With `isTested` the renewing thread opens it, if it is not open yet. */
  open(isTested = false) {
    if (this.#session?.isGood()) return this.#session
    if (this.isClosed) return Promise.reject(closedError(this.name))
    // First end the old session. Its waiters request a new session at once, and all of them must get the same one.
    if (this.#session !== null) this.#lapse()
    this.#opening ??= outside(() => this.#openOrEnd(isTested)).finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  /** As #open(), unless #close() ends the wait for it. */
  #openOrEnd(isTested) {
    return new Promise((resolve, reject) => {
      this.#endOpening = reject
      this.#open(isTested).then(resolve, reject)
    })
  }

  async #open(isTested) {
    const id = randomBytes(9).toString('base64url')
    try {
      await this.driver.listen(id, this.#listener())
      // The server has answered, so the rest of the start only depends on this machine.
      this.start.failure = undefined
      // A closed keeper would start another thread, which would never end.
      if (this.isClosed) throw closedError(this.name)
      const session = await this.keeper.open(id, isTested)
      if (this.isClosed) throw closedError(this.name)
      this.#session = session
      this.#watchSession()
      this.start.done()
      return session
    } catch (error) {
      this.start.failure = error
      this.start.failed()
      throw this.isClosed ? closedError(this.name) : error
    }
  }

  #listener() {
    return {
      granted: (id, grant) =>
        // If the driver has no confirm(), the waiter must ask the server.
        this.#session?.leases.get(id)?.granted(this.driver.confirm && grant),
      wanted: (key) => {
        for (const cohort of this.#cohorts.get(key) ?? []) cohort.isWanted()
      },
      moved: () => {
        this.movedAt = this.clock.now()
      },
      trouble: (error) => {
        this.listeningError = error
        if (error === undefined) return
        this.start.failed()
        for (const lease of this.#session?.leases.values() ?? []) lease.disconnected()
      },
      missed: () => {
        this.leaving.repeat()
        for (const cohorts of this.#cohorts.values()) for (const one of cohorts) one.isWanted()
        for (const lease of this.#session?.leases.values() ?? []) lease.ask()
      },
    }
  }

  /** Called when the renewing thread finds that the session `id`, or without `id` any session, is over. */
  sessionEnded(id, error) {
    const session = this.#session
    if (session !== null && (id === undefined || id === session.id))
      this.lose(session, error.message, error)
  }

  /** Ends `session` and all its holds. */
  lose(session, why, cause) {
    if (session.isOver) return
    session.isOver = true
    this.#session = null
    this.clock.clearTimeout(this.#watch)
    // The server may have renewed the session meanwhile. It must not keep locks that no caller holds.
    this.keeper.forget(session.id)
    const leases = [...session.leases.values()]
    session.leases.clear()
    for (const lease of leases) lease.sessionEnded(why, cause)
    this.leaving.sessionEnded(session)
  }

  /** Counts a caller that begins (1) or ends (-1) to wait for a holder of this thread, whose lease has an end. */
  countWaits(change) {
    this.#waits += change
    this.#keepWatch()
  }

  /** Counts a lease that this thread gets (1) or has no more (-1). */
  countHeld(change) {
    this.#held += change
    this.#keepWatch()
  }

  /** Keeps the process alive while a caller waits for a holder: the end of the holder's lease may end the wait. */
  #keepWatch() {
    if (this.#waits > 0 && this.#held > 0) this.#watch?.ref()
    else this.#watch?.unref()
  }

  /** Checks the session at the end of its time, as far as this thread knows. */
  #watchSession() {
    const time = Math.max(1, Math.ceil(this.#session.safeUntil() - this.clock.now()))
    this.#watch = outside(() => this.clock.setTimeout(() => this.#check(), time))
    this.#keepWatch()
  }

  #check() {
    if (this.#session.isGood()) this.#watchSession()
    else this.#lapse()
  }

  #lapse() {
    this.lose(this.#session, 'it was not renewed in time', this.trouble)
  }

  /** Settles as `waiting`, which waits for a holder of this thread. A maxHold keeps the process alive meanwhile. */
  async during(waiting) {
    this.countWaits(1)
    try {
      return await waiting
    } finally {
      this.countWaits(-1)
    }
  }

  /** Resolves when locks with these times are idle, and the server has been told. */
  async idle(promise, times) {
    await (times?.maxHold < Infinity ? this.during(promise) : promise)
    await this.leaving.ended()
  }

  /** Ends the session. That also frees leases of which the server could not be told in time. */
  async #endSession(session) {
    const { answerTimeout, ttl } = this.settings
    const requests = Array.from(session.leases.values(), (lease) => leavingOf(lease))
    this.lose(session, 'the engine has been closed')
    const late = () => this.trouble ?? noAnswer(answerTimeout)
    const within = (doing) => inTime(doing, answerTimeout, late, { clock: this.clock })
    const leaves = requests.map(async (request) => this.driver.leave(request))
    const [left] = await Promise.allSettled([within(Promise.all(leaves))])
    try {
      await within(this.driver.end(session.id))
    } catch (error) {
      throw untoldError(this.name, ttl, left.reason ?? error)
    }
  }

  /** Closes the hub. Every call waits for the same end. Only the first call rejects if the server could not be told. */
  async close() {
    // A holder that hears of its loss may call this during #close().
    if (this.#closing !== undefined) return this.#closing
    let end
    this.#closing = new Promise((resolve) => {
      end = resolve
    })
    await this.#close().finally(end)
  }

  async #close() {
    this.isClosed = true
    const error = closedError(this.name)
    // Reject waiters here: a holder of this thread may never release, and they have no request at the server.
    for (const lock of [...this.#locks]) lock.failed(error)
    // Nothing below keeps the process alive by itself.
    const awake = this.clock.setTimeout(() => {}, longestTimeout)
    try {
      // The event loop may have been blocked, and not have found the session lapsed yet.
      if (this.#session?.isGood() === false) this.#lapse()
      const ending = this.#session && this.#endSession(this.#session)
      // A caller whose command has failed, or has no answer yet, would outlive the engine.
      this.#endOpening?.(error)
      for (const cohorts of this.#cohorts.values()) for (const one of cohorts) one.close(error)
      await ending
    } finally {
      const closing = this.keeper.close().then(() => this.driver.close())
      await closing.finally(() => this.clock.clearTimeout(awake))
    }
  }
}

module.exports = { Hub }
