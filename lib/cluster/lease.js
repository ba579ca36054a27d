'use strict'
// One request of this thread to the server, and the lease that becomes of it.
//
//   asking   the server has not granted it yet: the callers that want it wait in `waiters`
//   held     until the server hears of leave(), the session ends, or `until` is past
//   over
//
// While it asks, a command is on its way, or a timer runs after which it looks again; a message looks earlier. One that
// says what the grant is, soon enough, is as good as an answer: the lease is held once the confirmation has been sent,
// and until that has been answered it is a claim, which ends long before maxHold.
const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { AwaitedAnswer } = require('./awaited_answer.js')
const { now, safely } = require('./clock.js')
const { lostError } = require('../core/errors.js')
const { closedError, isOurs, mismatchError } = require('./errors.js')
const { pause } = require('./patience.js')
const { Turn } = require('./turn.js')

/** However far away the end of those before it: a message may have been lost. */
const longestLook = 5000
const lateClaim = 'what it had been granted was not confirmed in time'

class Lease {
  state = 'asking'
  session = null
  id = undefined
  waiters = new Set()
  /** The holds of callers that have it now. */
  holds = new Set()
  #isBusy = false
  #isToAskAgain = false
  /** Whether no caller has heard what the server may have said about the holder before. */
  isUntold = true
  /** Whether no caller has had it. */
  isUnused = true
  /** Whether a command has failed that the server may carry out still. */
  #isUnsure = false
  #timer
  /** When the last command was sent that found us waiting, and what the server's clock was then. */
  #waited
  /** The grant that a message has told us of while a command was on its way. */
  #news
  /** The grant that the server has not yet confirmed. */
  claimed = undefined
  #isWantedSoon = false
  /** Where it is held: how long it stays, and until when it is ours. */
  turn = undefined
  until = undefined

  constructor(cohort, units, isToWait) {
    this.cohort = cohort
    this.hub = cohort.hub
    this.units = units
    this.isToWait = isToWait
    const giveUp = (error) => cohort.failed(this, error)
    this.answer = new AwaitedAnswer(this.hub, () => cohort.title(), giveUp)
  }

  /** Asks now, and again when the command that is on its way has been answered. */
  ask() {
    if (this.state !== 'asking') return
    if (this.#isBusy) this.#isToAskAgain = true
    else this.#enter()
  }

  async #enter() {
    this.#isBusy = true
    this.#isToAskAgain = false
    clearTimeout(this.#timer)
    this.answer.expect()
    try {
      const opened = this.hub.open()
      const session = opened instanceof Promise ? await opened : opened
      if (this.state === 'asking') {
        if (this.session !== session) this.#moveTo(session)
        const request = this.request()
        const sent = now()
        this.heard(await this.hub.driver.enter(request), sent, request.maxHold, session)
      }
    } catch (error) {
      this.#isUnsure = true
      this.#failed(error)
    }
    this.#isBusy = false
    if (this.state === 'over') this.#leave()
    else if (this.#isToAskAgain && !this.claim()) this.ask()
  }

  /** A message: the server has granted it, and this. Some cannot say what. */
  granted(grant) {
    if (this.state !== 'asking') return
    this.#news = grant
    if (this.#isBusy || !this.claim()) this.ask()
  }

  /**
   * Whether the news are good enough to go by. The server's clock has gone on since we last saw it by what has passed
   * here, or a little more (if it has been set, a claim is still not longer than a claim); what is left until then must
   * do for the confirmation.
   */
  claim() {
    const news = this.#news
    const waited = this.#waited
    this.#news = undefined
    if (this.state !== 'asking' || news === undefined || waited?.clock === undefined) return false
    const time = now()
    const { claim } = this.hub
    const { session } = this
    const end = waited.sent + safely(news.until - waited.clock)
    const until = Math.min(end, time + safely(claim))
    if (time + claim / 2 > until || !session.isGood()) return false
    clearTimeout(this.#timer)
    // What a command did not get in all that time, the message has told.
    this.answer.came()
    this.#isBusy = true
    this.claimed = news
    this.until = until
    this.#confirm(news)
    // By then it has been sent: from now on a caller that comes in may block the event loop.
    setImmediate(() => {
      this.#isBusy = false
      if (this.state === 'over') this.#leave()
      else this.#begin(news, this.until, session)
    })
    return true
  }

  async #confirm(grant) {
    try {
      const request = this.request()
      const sent = now()
      const { state, wanted } = await this.hub.confirm(request)
      if (this.claimed !== grant) return
      this.claimed = undefined
      this.until = state === 'held' ? sent + safely(request.maxHold) : 0
      if (wanted) this.wanted()
      if (this.state !== 'held') return
      if (state === 'held') this.#keepOn()
      else this.#lose(lateClaim)
    } catch {
      // Whatever it was: the claim has an end of its own.
      if (this.claimed === grant) this.#timer = setTimeout(() => this.#confirm(grant), pause)
    }
  }

  /** A lease without an end is confirmed again long before the one that the server knows. */
  #keepOn() {
    if (this.cohort.maxHold !== Infinity) return
    this.#timer = setTimeout(() => {
      this.claimed = {}
      this.#confirm(this.claimed)
    }, this.hub.settings.longestHold / 2)
    this.#timer.unref()
  }

  #failed(error) {
    if (this.state !== 'asking') return
    // What is said on our side does not get better by asking again.
    if (isOurs(error) || this.hub.isClosed) {
      this.cohort.failed(this, isOurs(error) ? error : closedError(this.hub.name))
      return
    }
    this.answer.expect(error)
    this.#lookIn(pause)
  }

  #moveTo(session) {
    this.session = session
    this.#waited = undefined
    this.#news = undefined
    this.id = session.nextId()
    session.leases.set(this.id, this)
  }

  request() {
    const { cohort, hub, session, id, units, isToWait } = this
    const { key, capacity, minHold } = cohort
    const asked = { session: session.id, key, id, units, capacity, claim: hub.claim }
    return { ...asked, wait: isToWait, first: false, maxHold: this.maxHold(), minHold }
  }

  /** How long the server is to leave it to us, from when it hears of it. */
  maxHold() {
    return Math.min(this.cohort.maxHold, this.hub.settings.longestHold)
  }

  /** Nothing tells it of its turn. It is rejected where that does not change in time, and its turn does not come either. */
  deafened() {
    if (this.state === 'asking') this.answer.expect(this.hub.deafness)
  }

  heard(answer, sent, maxHold, session) {
    if (this.state !== 'asking') return
    const { cohort, hub } = this
    const { state } = answer
    if (state === 'waiting' && hub.deafness !== undefined) this.deafened()
    else this.answer.came()
    if (state === 'held') {
      this.#begin(answer, sent + safely(maxHold), session)
    } else if (state === 'waiting') {
      this.#waited = { sent, clock: answer.clock }
      this.#lookIn(Math.min(answer.look, longestLook))
    } else if (state === 'refused') {
      cohort.refused(this)
    } else if (state === 'mismatch') {
      cohort.failed(this, mismatchError(cohort.title(), answer.capacity))
    } else {
      hub.lose(session, 'the server has ended its session')
      this.ask()
    }
  }

  #lookIn(time) {
    if (this.state === 'asking') this.#timer = setTimeout(() => this.ask(), time)
  }

  #begin({ token, wanted, abandoned }, until, session) {
    // The server may have ended it while its answer was on its way.
    if (!session.isGood() || now() >= until) {
      this.claimed = undefined
      this.ask()
      return
    }
    this.state = 'held'
    this.isAbandoned = abandoned
    this.until = until
    const { bound, isForEach, maxHold } = this.cohort
    this.turn = new Turn(token, bound, now() + maxHold / 2, isForEach)
    if (wanted || this.#isWantedSoon) this.wanted()
    if (this.claimed === undefined) this.#keepOn()
    this.hub.began(this)
    this.cohort.granted(this)
  }

  /** Others wait for it: its turn here has an end now. The answer that begins it may come after this message. */
  wanted() {
    this.#isWantedSoon = true
    if (this.state === 'held') this.turn.limit()
  }

  hasNoUse() {
    return this.holds.size === 0 && this.waiters.size === 0
  }

  /** Whether another caller of this thread may have it. */
  isToPassOn() {
    const time = now()
    const isGood = this.state === 'held' && time < this.until && this.session.isGood()
    return isGood && !this.turn.isOver(time)
  }

  /** No caller here has it or wants it any more. */
  end() {
    if (this.state === 'held') this.hub.ended(this)
    this.#stop()
    if (this.session !== null && !this.session.isOver) this.hub.leaves(this)
    if (!this.#isBusy) this.#leave()
  }

  #stop() {
    this.state = 'over'
    this.claimed = undefined
    clearTimeout(this.#timer)
    this.answer.stop()
  }

  /** The server is to hear of it. */
  #leave() {
    const { session, id } = this
    if (session === null || session.isOver) return
    session.leases.delete(id)
    this.hub.leave(session, this.leaving(), this.#isUnsure).then(() => this.hub.hasLeft(this))
  }

  leaving() {
    return { ...this.request(), keep: 0, untold: this.isUntold, unused: this.isUnused }
  }

  /** Gives back all but `units`. */
  shrink(units) {
    this.units = units
    if (this.state !== 'held') return
    this.hub.leave(
      this.session,
      { ...this.leaving(), keep: units, untold: false, unused: false },
      false,
    )
  }

  sessionEnded(why, cause) {
    if (this.state === 'held') this.#lose(why, cause)
    else this.ask()
  }

  /** Its time is up, as far as we know. */
  late() {
    if (this.claimed === undefined) {
      this.#lose(`it was held for longer than maxHold, ${this.cohort.maxHold} ms`)
      return
    }
    // Where the event loop was blocked, the answer may lie there unread: this turn of it reads it.
    setImmediate(() => {
      if (this.claimed !== undefined) this.#lose(lateClaim)
    })
  }

  /** The server takes it back by itself, and tells the next one of it: its holders here are in still. */
  #lose(why, cause) {
    this.#stop()
    this.session.leases.delete(this.id)
    this.hub.ended(this)
    this.cohort.lost(this, lostError(this.cohort.title(), why, cause))
  }
}

/** Whether it is of use for any caller that comes. */
Lease.prototype.isForOthers = true

module.exports = { Lease }
