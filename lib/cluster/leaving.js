'use strict'
// The leases of one engine that have ended here and of which the server is being told. It counts them as held until
// then.
const { warn } = require('../core/warn.js')
const { after } = require('./clock.js')
const { engineError, untoldReleaseText } = require('./errors.js')
const { inTime, pause } = require('./patience.js')

/** How many of the last releases are told again after a failover, at most. */
const mostRepeated = 1000

/** Whether the server has answered a request of `session`. The end of the session costs no other request anything. */
const isInUse = ({ leases }) => [...leases.values()].some(({ answer }) => answer.hasCome)

class Leaving {
  #hub
  /**
   * { session, promise, resolve } by the id of the lease. The promise resolves when the server has been told. Keeps no
   * lease and no error, because very many may leave while the server does not answer.
   */
  #all = new Map()
  /** The last requests, { session, request }, that the server has answered, and may forget. */
  #told = new Set()
  /** Called in turn, each for a release that waits for its next try. */
  #retries = []
  #isPacing = false

  constructor(hub) {
    this.#hub = hub
  }

  add({ id, session }) {
    const leaving = { session }
    leaving.promise = new Promise((resolve) => {
      leaving.resolve = resolve
    })
    this.#all.set(id, leaving)
  }

  remove(id) {
    this.#all.get(id)?.resolve()
    this.#all.delete(id)
  }

  /** Called when `session` is over: the server forgets its leases by itself. */
  sessionEnded(session) {
    for (const [id, leaving] of this.#all) if (leaving.session === session) this.remove(id)
    this.#retryAll()
  }

  /**
   * Resolves when the server has been told of all leases that have ended by now, or when their session is over. Rejects
   * when the server does not answer in time. Keeps the process alive meanwhile.
   */
  async ended() {
    const { clock, name, settings } = this.#hub
    const { answerTimeout } = settings
    const all = Promise.all(Array.from(this.#all.values(), ({ promise }) => promise))
    const late = () => engineError(name, 'the release of a lock', answerTimeout, this.#hub.trouble)
    for (;;) {
      const { movedAt } = this.#hub
      try {
        await inTime(all, answerTimeout, late, { clock, isToStay: true })
        return
      } catch (error) {
        // If the driver's queue has moved on, the server answers.
        if (this.#hub.movedAt === movedAt) throw error
      }
    }
  }

  /**
   * Resolves when the server has been told. With `isUnsure` tells it a second time later, because a command of the
   * request has failed, and a stuck server may still execute it.
   */
  async tell(session, request, isUnsure) {
    const { claim, clock } = this.#hub
    await this.#tell(session, request)
    if (!isUnsure) return
    // If the server has executed that command meanwhile, no caller has been told of the grant.
    const late = { ...request, untold: true, unused: true }
    after(clock, claim).then(() => this.#tell(session, late))
  }

  /** Repeats until the server has been told, or the session is over. */
  async #tell(session, request) {
    const progress = { start: this.#hub.clock.now(), hasFailed: false, hasWarned: false }
    while (!session.isOver && !this.#hub.isClosed) {
      if (await this.#attempt(session, request, progress)) return
      if (!session.isOver) await this.#turn()
    }
  }

  /** Resolves to whether the server has been told. A method of its own, so that no error is kept during the pause. */
  async #attempt(session, request, progress) {
    const { clock, driver, name, settings } = this.#hub
    try {
      await driver.leave(request)
      if (driver.mayForget) this.#keep({ session, request })
      if (progress.hasFailed) this.#retryAll()
      return true
    } catch (error) {
      progress.hasFailed = true
      // Retry after any error, because a lease that the server still counts keeps others out. The timer does not keep
      // the process alive, because the server ends the session of a process that has ended.
      const passed = clock.now() - progress.start
      if (!progress.hasWarned && passed >= settings.answerTimeout) {
        progress.hasWarned = true
        const text = untoldReleaseText(name, settings.answerTimeout, error)
        warn('BOXOFFICE_UNTOLD_RELEASE', text, { site: name })
      }
      // The renewing thread has a connection of its own. Without the session the server forgets the lease, too.
      if (passed >= settings.ttl && !isInUse(session))
        this.#hub.lose(session, 'the server could not be told of a release', error)
      return false
    }
  }

  #keep(told) {
    this.#told.add(told)
    if (this.#told.size <= mostRepeated) return
    const [oldest] = this.#told
    this.#told.delete(oldest)
  }

  /** Called when another server may have taken over, which lacks the last releases but knows the session. */
  repeat() {
    const all = [...this.#told]
    this.#told.clear()
    for (const { session, request } of all) this.#tell(session, request)
  }

  /** Resolves when a release that has failed may try again. */
  #turn() {
    return new Promise((resolve) => {
      this.#retries.push(resolve)
      if (!this.#isPacing) this.#pace()
    })
  }

  /**
   * Lets one release try again each `pause`. Every request that fails leaves one, so there may be very many while the
   * server does not answer.
   */
  async #pace() {
    this.#isPacing = true
    while (this.#retries.length > 0) {
      await after(this.#hub.clock, pause)
      if (this.#hub.isClosed) this.#retryAll()
      else this.#retries.shift()?.()
    }
    this.#isPacing = false
  }

  #retryAll() {
    for (const retry of this.#retries.splice(0)) retry()
  }
}

module.exports = { Leaving }
