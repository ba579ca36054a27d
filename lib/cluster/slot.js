'use strict'
// One request of this thread to the server, and the lease that becomes of it.
//
//   asking   the server has not granted it yet: who wants it waits in `waiters`
//   held     until the server hears of leave(), the session ends, or `until` is past
//   over
//
// While it asks, a command is on its way, or a timer runs after which it looks again; a message looks earlier. One that
// says what the grant is, soon enough, is as good as an answer: the slot is held once the confirmation has been sent,
// and until that has been answered it is a claim, which ends long before maxHold.
const { clearTimeout, setImmediate, setTimeout } = require('node:timers')
const { now, safely } = require('./clock.js')
const { closedError, engineError, lostError, mismatchError } = require('./errors.js')
const { startPatience } = require('./patience.js')
const { Turn } = require('./turn.js')

/** How long to wait before a command that has failed is repeated. */
const pause = 100
/** However far away the end of those before it: a message may have been lost. */
const longestLook = 5000
const lateClaim = 'what it had been granted was not confirmed in time'

class Slot {
  constructor(cohort, units, isToWait) {
    this.cohort = cohort
    this.units = units
    this.isToWait = isToWait
    this.state = 'asking'
    this.session = null
    this.id = undefined
    this.waiters = new Set()
    /** Those who have it now. */
    this.holds = new Set()
    this.isBusy = false
    this.isToAskAgain = false
    /** Whether nobody here has heard of what the server may have said about those who held it before. */
    this.isUntold = true
    /** Whether a command has failed that the server may carry out still. */
    this.isUnsure = false
    /** Whether the server has ever answered, and why it has not since. */
    this.isAnswered = false
    this.failure = undefined
    this.timer = undefined
    this.endPatience = undefined
    /** When the last command was sent that found us waiting, and what the server's clock was then. */
    this.waited = undefined
    /** The grant that a message has told us of while a command was on its way. */
    this.news = undefined
    /** The grant that the server has not yet confirmed. */
    this.claimed = undefined
    this.isWantedSoon = false
    /** Where it is held. */
    this.turn = undefined
  }

  get hub() {
    return this.cohort.hub
  }

  /** The server has the time that was agreed on, and no more. */
  expectAnswer() {
    if (this.endPatience !== undefined) return
    const { answerTimeout } = this.hub.settings
    this.endPatience = startPatience(answerTimeout, () => {
      this.cohort.failed(this, this.silence(answerTimeout))
    })
  }

  stopPatience() {
    this.endPatience?.()
    this.endPatience = undefined
  }

  silence(time) {
    const cause = this.failure ?? this.hub.trouble
    return engineError(this.hub.name, this.cohort.title(), Math.round(time), cause)
  }

  /** Whether nobody knows what the server would say. */
  isSilent() {
    return !this.isAnswered || this.failure !== undefined
  }

  /** Asks now, and again when the command that is on its way has been answered. */
  ask() {
    if (this.state !== 'asking') return
    if (this.isBusy) this.isToAskAgain = true
    else this.enter()
  }

  async enter() {
    this.isBusy = true
    this.isToAskAgain = false
    clearTimeout(this.timer)
    this.expectAnswer()
    try {
      const opened = this.hub.open()
      const session = opened instanceof Promise ? await opened : opened
      if (this.state === 'asking') {
        if (this.session !== session) this.moveTo(session)
        const request = this.request()
        const sent = now()
        this.heard(await this.hub.enter(request), sent, request.maxHold, session)
      }
    } catch (error) {
      this.isUnsure = true
      this.failed(error)
    }
    this.isBusy = false
    if (this.state === 'over') this.leave()
    else if (this.isToAskAgain && !this.claim()) this.ask()
  }

  /** A message: the server has granted it, and this. Some cannot say what. */
  granted(grant) {
    if (this.state !== 'asking') return
    this.news = grant
    if (this.isBusy || !this.claim()) this.ask()
  }

  /**
   * Whether the news are good enough to go by. The server's clock has gone on since we last saw it by what has passed
   * here, or a little more (if somebody has set it, a claim is still not longer than a claim); what is left until then
   * must do for the confirmation.
   */
  claim() {
    const { news, waited, session } = this
    this.news = undefined
    if (this.state !== 'asking' || news === undefined || waited?.clock === undefined) return false
    const time = now()
    const { claim } = this.hub
    const end = waited.sent + safely(news.until - waited.clock)
    const until = Math.min(end, time + safely(claim))
    if (time + claim / 2 > until || !session.isGood()) return false
    clearTimeout(this.timer)
    // What a command did not get in all that time, the message has told.
    this.answered()
    this.isBusy = true
    this.claimed = news
    this.until = until
    this.confirm(news, session)
    // By then it has been sent: from now on whoever comes in may block the event loop.
    setImmediate(() => {
      this.isBusy = false
      if (this.state === 'over') this.leave()
      else this.begin(news, this.until, session)
    })
    return true
  }

  async confirm(grant, session) {
    try {
      const request = this.request()
      const sent = now()
      const { state, wanted } = await this.hub.confirm(request)
      if (this.claimed !== grant) return
      this.claimed = undefined
      this.until = state === 'held' ? sent + safely(request.maxHold) : 0
      if (wanted) this.wanted()
      if (state !== 'held' && this.state === 'held') this.lose(lateClaim)
    } catch {
      // Whatever it was: the claim has an end of its own.
      if (this.claimed === grant) this.timer = setTimeout(() => this.confirm(grant, session), pause)
    }
  }

  failed(error) {
    if (this.state !== 'asking') return
    // What is said on our side does not get better by asking again.
    if (isOurs(error) || this.hub.isClosed) {
      this.cohort.failed(this, isOurs(error) ? error : closedError(this.hub.name))
      return
    }
    this.failure = error
    this.expectAnswer()
    this.lookIn(pause)
  }

  moveTo(session) {
    this.session = session
    this.waited = undefined
    this.news = undefined
    this.id = session.nextId()
    session.slots.set(this.id, this)
  }

  request() {
    const { cohort, session, id, units, isToWait } = this
    const { key, capacity } = cohort
    const place = { session: session.id, key, id, units, capacity }
    return { ...place, wait: isToWait, first: false, maxHold: this.maxHold() }
  }

  /** How long the server is to leave it to us, from when it hears of it. */
  maxHold() {
    return this.hub.settings.maxHold
  }

  /** The server is there: it need not hurry any more. */
  answered() {
    this.isAnswered = true
    this.failure = undefined
    this.stopPatience()
  }

  /** Nothing tells it of its turn. It is rejected where that does not change in time, and its turn does not come either. */
  deafened() {
    if (this.state !== 'asking') return
    this.failure = this.hub.deafness
    this.expectAnswer()
  }

  heard(answer, sent, maxHold, session) {
    if (this.state !== 'asking') return
    if (answer.state === 'waiting' && this.hub.deafness !== undefined) this.deafened()
    else this.answered()
    switch (answer.state) {
      case 'held':
        this.begin(answer, sent + safely(maxHold), session)
        break
      case 'waiting':
        this.waited = { sent, clock: answer.clock }
        this.lookIn(Math.min(answer.look, longestLook))
        break
      case 'refused':
        this.cohort.refused(this)
        break
      case 'mismatch':
        this.cohort.failed(this, mismatchError(this.cohort.title(), answer.capacity))
        break
      default:
        this.hub.lose(session, 'the server has ended its session')
        this.ask()
    }
  }

  lookIn(time) {
    if (this.state !== 'asking') return
    this.timer = setTimeout(() => this.ask(), time)
  }

  begin({ token, wanted, abandoned }, until, session) {
    // The server may have ended it while its answer was on its way.
    if (!session.isGood() || now() >= until) {
      this.claimed = undefined
      this.ask()
      return
    }
    this.state = 'held'
    this.isAbandoned = abandoned
    this.until = until
    this.turn = new Turn(token, this.cohort.bound, now() + this.hub.settings.maxHold / 2)
    if (wanted || this.isWantedSoon) this.wanted()
    this.hub.began(this)
    this.cohort.granted(this)
  }

  /** Others wait for it: its turn here has an end now. The answer that begins it may come after this message. */
  wanted() {
    this.isWantedSoon = true
    if (this.state === 'held') this.turn.limit()
  }

  /** Whether another one of this thread may have it. */
  isToPassOn() {
    const time = now()
    return this.isGood(time) && !this.turn.isOver(time)
  }

  /** Whether it is of use for whoever comes. */
  isForOthers() {
    return true
  }

  isGood(time) {
    return this.state === 'held' && time < this.until && this.session.isGood()
  }

  nextToken() {
    return this.turn.nextToken()
  }

  /** Nobody here has it or wants it any more. */
  end() {
    const wasHeld = this.state === 'held'
    this.stop()
    if (wasHeld) this.hub.ended(this)
    if (!this.isBusy) this.leave()
  }

  stop() {
    this.state = 'over'
    this.claimed = undefined
    clearTimeout(this.timer)
    this.stopPatience()
  }

  /** The server is to hear of it. */
  leave() {
    if (this.session === null || this.session.isOver) return
    const { session, id } = this
    session.slots.delete(id)
    this.hub.leave(session, this.leaving(), this.isUnsure)
  }

  leaving() {
    return { ...this.request(), keep: 0, untold: this.isUntold }
  }

  /** Gives back all but `units`. */
  shrink(units) {
    this.units = units
    if (this.state !== 'held') return
    this.hub.leave(this.session, { ...this.leaving(), keep: units, untold: false }, false)
  }

  sessionEnded(why, cause) {
    if (this.state === 'held') this.lose(why, cause)
    else this.ask()
  }

  /** Its time is up, as far as we know. */
  late() {
    if (this.claimed === undefined) this.heldTooLong()
    // Where the event loop was blocked, the answer may lie there unread: this turn of it reads it.
    else
      setImmediate(() => {
        if (this.claimed !== undefined) this.lose(lateClaim)
      })
  }

  heldTooLong() {
    const { maxHold } = this.hub.settings
    this.lose(`it was held for longer than maxHold, ${maxHold} ms`)
  }

  /** The server takes it back by itself, and tells the next one of it: whoever has it here is in still. */
  lose(why, cause) {
    this.stop()
    this.session.slots.delete(this.id)
    this.hub.ended(this)
    this.cohort.lost(this, lostError(this.cohort.title(), why, cause))
  }
}

/** Other errors have a `code`, too: those of the web have a number. */
const isOurs = ({ code }) => typeof code === 'string' && code.startsWith('ERR_LOCK_')

module.exports = { Slot }
