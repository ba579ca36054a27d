'use strict'
// How a message grants a lease. A message that carries the grant, and arrives in time, replaces the answer to a
// command. The lease is then held as a claim, which ends long before maxHold, until the server has answered a
// confirmation. The renewing thread confirms it, unless the caller releases soon (claims.js): then the lease is held at
// once. If that thread cannot confirm, the event loop sends the confirmation first. A lease without an end is confirmed
// again and again.
const { after, leftOf, safely } = require('./clock.js')
const { lookEvery } = require('./claim_watch.js')
const { outside } = require('./outside.js')
const { pause } = require('./patience.js')
const { requestOf } = require('./requests.js')

/** The renewing thread sends a confirmation within this time after the grant, in milliseconds. */
const latest = 2 * lookEvery

/** Whether `grant` is a valid EngineGrant of engine.d.ts. */
const isValidGrant = (grant) => typeof grant?.token === 'bigint' && Number.isFinite(grant.until)

class Confirmation {
  #lease
  #hub
  #clock
  #timer
  /** When the last command that left the request in the queue was sent, and the server's clock in its answer. */
  #waited
  /** The grant in a message that arrived while a command was on its way. */
  #grant
  /**
   * The confirmation under way: { begun, withdraw, unsure }. If the renewing thread confirms, `begun` is when the grant
   * arrived, and withdraw() takes the claim back. `unsure` is a request that has failed, and that the server may have
   * executed.
   */
  #open

  /** Calls `lease.confirmed(until, wanted)` with the server's answer: `until` is 0 if the lease is over. */
  constructor(lease) {
    this.#lease = lease
    this.#hub = lease.hub
    this.#clock = lease.hub.clock
  }

  /** Records that a command, sent at time `sent`, has left the request in the queue. */
  queued(sent, clock) {
    this.#waited = { sent, clock }
  }

  note(grant) {
    this.#grant = grant
  }

  /** Called when the request moves to another session. */
  forget() {
    this.#waited = undefined
    this.#grant = undefined
  }

  isOpen() {
    return this.#open !== undefined
  }

  /**
   * Returns the grant of a message and the end of its claim, { grant, until }, or undefined if too little of the claim
   * is left for a confirmation. Since the last answer the server's clock has advanced by the time passed here, or a
   * little more. Even if that clock was set, `until` is at most `claim` ms away.
   */
  takeGrant() {
    const grant = this.#grant
    const waited = this.#waited
    this.#grant = undefined
    if (!isValidGrant(grant) || waited?.clock === undefined) return undefined
    const time = this.#clock.now()
    const { claim } = this.#hub
    const end = waited.sent + safely(grant.until - waited.clock)
    const until = Math.min(end, time + safely(claim))
    return time + claim / 2 > until ? undefined : { grant, until }
  }

  /**
   * Makes the renewing thread confirm a grant whose claim ends at `until`. Returns false if it cannot do that in time:
   * then call send().
   */
  sendLater(until) {
    const { claim, keeper } = this.#hub
    const request = requestOf(this.#lease)
    const begun = this.#clock.now()
    // Confirm a short hold at once, because other waiters rely on the end that the server knows.
    if (until - begun < claim / 2 + latest || request.maxHold <= claim) return false
    const open = { begun }
    const later = keeper.claims.add(request, begun, () => {
      if (this.#open === open) this.send(open)
    })
    if (later === undefined) return false
    open.withdraw = later.withdraw
    this.#await(open, request, later.answer)
    return true
  }

  /** Confirms until the server has answered. */
  send(open = {}) {
    const sent = this.#clock.now()
    const request = requestOf(this.#lease)
    request.maxHold = leftOf(request.maxHold, sent - (open.begun ?? sent))
    this.#await(open, request, this.#confirm(request, sent))
  }

  async #confirm(request, sent) {
    try {
      return { ...(await this.#hub.confirm(request)), until: sent + safely(request.maxHold) }
    } catch {
      // Any error leads to a retry, and the claim ends by itself.
      return undefined
    }
  }

  async #await(open, request, confirming) {
    this.#open = open
    const answer = await confirming
    if (this.#open !== open) return this.#disown(request)
    this.#clock.clearTimeout(this.#timer)
    if (answer === undefined) {
      open.unsure = request
      this.#timer = this.#clock.setTimeout(() => this.send(open), pause)
      return
    }
    this.#open = undefined
    this.#lease.confirmed(answer.state === 'held' ? answer.until : 0, answer.wanted)
  }

  /**
   * Called when the answer to `request` has arrived too late or not at all, so that the server may keep a hold for
   * maxHold that no caller has. Makes the server end the hold now as a lost one: the next grant is abandoned.
   */
  async #disown(request) {
    const { session, state } = this.#lease
    if (state !== 'lost') return
    const end = this.#clock.now() + request.maxHold
    while (this.#clock.now() < end && !session.isOver && !this.#hub.isClosed) {
      try {
        await this.#hub.confirm({ ...request, wait: false, maxHold: 1 })
        return
      } catch {
        await after(this.#clock, pause)
      }
    }
  }

  /** Schedules the next confirmation of a lease without an end, long before the end that the server knows. */
  keepOn() {
    if (this.#lease.cohort.maxHold !== Infinity) return
    const time = this.#hub.settings.longestHold / 2
    this.#timer = outside(() => this.#clock.setTimeout(() => this.send(), time))
    this.#timer.unref()
  }

  /** With `isUnsure` a command of the request has failed, and a stuck server may still execute it. */
  stop(isUnsure = false) {
    const { unsure, withdraw } = this.#open ?? {}
    this.#open = undefined
    withdraw?.()
    this.#clock.clearTimeout(this.#timer)
    if (unsure !== undefined) this.#disown(unsure)
    if (!isUnsure || this.#lease.state !== 'lost') return
    const request = requestOf(this.#lease)
    after(this.#clock, this.#hub.claim).then(() => this.#disown(request))
  }
}

module.exports = { Confirmation }
