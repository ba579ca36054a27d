'use strict'
// How a message grants a lease. A message that carries the grant, and comes in time, replaces the answer to a command: the
// lease is held once the renewing thread knows that it has to confirm it, which it need not do when the caller releases soon
// (claims.js); without that thread, once its confirmation has been sent. Until the server has answered the confirmation, the
// lease is a claim, which ends long before maxHold. A lease without an end is confirmed again and again.
const { after, leftOf, safely } = require('./clock.js')
const { lookEvery } = require('./claim_watch.js')
const { outside } = require('./outside.js')
const { pause } = require('./patience.js')
const { requestOf } = require('./requests.js')

/** Until when the renewing thread has sent a confirmation, counted from its grant, in milliseconds. */
const latest = 2 * lookEvery

/** Whether a driver has passed a grant, and engine.d.ts allows it. */
const isValidGrant = (grant) => typeof grant?.token === 'bigint' && Number.isFinite(grant.until)

class Confirmation {
  #lease
  #hub
  #clock
  #timer
  /**
   * When the last command was sent that left the request queued, and the server's clock at that
   * time.
   */
  #waited
  /** The grant in a message that arrived while a command was on its way. */
  #grant
  /** The grant that is not confirmed yet. */
  #claimed
  /** When it came. */
  #begun
  /** Takes it from the renewing thread, if it has that confirm it. */
  #withdraw
  /** A confirmation of it that has failed, and that the server may have executed. */
  #unsure

  /** Calls `lease.confirmed(until, wanted)` with the server's answer: `until` is 0 if the lease is over. */
  constructor(lease) {
    this.#lease = lease
    this.#hub = lease.hub
    this.#clock = lease.hub.clock
  }

  /** A command that was sent at time `sent` has left the request in the queue. */
  queued(sent, clock) {
    this.#waited = { sent, clock }
  }

  note(grant) {
    this.#grant = grant
  }

  /** The request has moved to another session. */
  forget() {
    this.#waited = undefined
    this.#grant = undefined
  }

  isOpen() {
    return this.#claimed !== undefined
  }

  /**
   * The grant of a message and the end of its claim, if it can be used: { grant, until }. The server's clock has
   * advanced since the last answer by the time passed here, or a little more. Even if that clock was set, the result is
   * at most `claim` ms away. What is left of the claim must suffice for the confirmation.
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
   * Has the renewing thread confirm a grant whose claim ends at `until`. Returns false if it cannot do that in time: then send()
   * does.
   */
  sendLater(grant, until) {
    const { claim } = this.#hub
    const request = requestOf(this.#lease)
    const time = this.#clock.now()
    // A shorter hold is confirmed at once: other waiters go by the end that the server knows.
    if (until - time < claim / 2 + latest || request.maxHold <= claim) return false
    const later = this.#hub.confirmLater(request, time, () => {
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
      // Retry after any error: the claim ends by itself.
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
   * The answer to `request` has come too late, or not at all: the server may keep for maxHold what no caller holds. So the
   * hold ends now, and the next holder hears of it, as of any lost one.
   */
  async #disown(request) {
    const { isLost, session } = this.#lease
    if (!isLost) return
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

  /** Confirms a lease without an end again, long before the end that the server knows. */
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
