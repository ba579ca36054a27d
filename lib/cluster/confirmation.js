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
  /**
   * When the last command that left the request in the queue was sent, and the server's clock in its answer.
   */
  #waited
  /** The grant in a message that arrived while a command was on its way. */
  #grant
  /** The grant that is not confirmed yet. */
  #claimed
  /** When that grant arrived. */
  #begun
  /** Takes the claim back from the renewing thread, if that thread confirms it. */
  #withdraw
  /** The request of a confirmation that has failed, and that the server may have executed. */
  #unsure

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
    return this.#claimed !== undefined
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
  sendLater(grant, until) {
    const { claim } = this.#hub
    const request = requestOf(this.#lease)
    const time = this.#clock.now()
    // Confirm a short hold at once, because other waiters rely on the end that the server knows.
    if (until - time < claim / 2 + latest || request.maxHold <= claim) return false
    const later = this.#hub.keeper.claims.add(request, time, () => {
      if (this.#claimed === grant) this.send(grant)
    })
    if (later === undefined) return false
    this.#begun = time
    this.#withdraw = later.withdraw
    this.#await(grant, request, later.answer)
    return true
  }

  /** Confirms until the server has answered. */
  send(grant) {
    const sent = this.#clock.now()
    const request = requestOf(this.#lease)
    request.maxHold = leftOf(request.maxHold, sent - (this.#begun ?? sent))
    this.#await(grant, request, this.#confirm(request, sent))
  }

  async #confirm(request, sent) {
    try {
      return { ...(await this.#hub.confirm(request)), until: sent + safely(request.maxHold) }
    } catch {
      // Any error leads to a retry, and the claim ends by itself.
      return undefined
    }
  }

  async #await(grant, request, confirming) {
    this.#claimed = grant
    const answer = await confirming
    if (this.#claimed !== grant) return this.#disown(request)
    if (answer === undefined) {
      this.#unsure = request
      this.#clock.clearTimeout(this.#timer)
      this.#timer = this.#clock.setTimeout(() => this.send(grant), pause)
      return
    }
    this.#claimed = undefined
    this.#unsure = undefined
    this.#clock.clearTimeout(this.#timer)
    this.#begun = undefined
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
    this.#timer = outside(() => this.#clock.setTimeout(() => this.send({}), time))
    this.#timer.unref()
  }

  stop() {
    const unsure = this.#unsure
    this.#claimed = undefined
    this.#begun = undefined
    this.#unsure = undefined
    this.#withdraw?.()
    this.#withdraw = undefined
    this.#clock.clearTimeout(this.#timer)
    if (unsure !== undefined) this.#disown(unsure)
  }
}

module.exports = { Confirmation }
