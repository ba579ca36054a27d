'use strict'
// One request of this thread to the server, and its lease once it is granted.
//
//   asking   the server has not granted it yet: the callers that want it wait in `waiters`
//   held     until leave() has told the server
//   over
//   lost     it was held, and the session has ended, or `until` is past
//
// While it asks, a command is on its way, or a timer runs until it asks again. A message makes it ask earlier, or
// carries the grant itself (confirmation.js).
const { setImmediate } = require('../core/builtins.js')
const { AwaitedAnswer } = require('./awaited_answer.js')
const { safely } = require('./clock.js')
const { Confirmation } = require('./confirmation.js')
const { lostError } = require('../core/caused_errors.js')
const { isLockError } = require('../core/errors.js')
const { closedError, faultOf, mismatchError } = require('./errors.js')
const { outside } = require('./outside.js')
const { pause } = require('./patience.js')
const { leavingOf, requestOf } = require('./requests.js')
const { Turn } = require('./turn.js')

/** The longest time in ms until a waiting request asks again. It must ask, because a message may have been lost. */
const longestLook = 5000
const lateClaim = 'what it had been granted was not confirmed in time'

class Lease {
  state = 'asking'
  session = null
  id = undefined
  waiters = new Set()
  /** The holds of the callers that have the lease now. */
  holds = new Set()
  #clock
  #isBusy = false
  #isToAskAgain = false
  /** Whether the grant, if there is one, may report a lost holder, of which no caller has been told. */
  isAbandoned = true
  /** Whether no caller has used the lease yet. */
  isUnused = true
  /** Whether the cohort has filed the lease as one without a caller. */
  isFree = false
  /** Whether a command has failed that the server may still execute. */
  #isUnsure = false
  /** Whether the last answer arrived after the end of the hold that it granted. */
  #wasLate = false
  #timer
  #confirmation
  #isWantedSoon = false
  /** While held: the Turn that limits how long this process keeps the lease, and the end of the lease. */
  turn = undefined
  until = undefined

  constructor(cohort, units, isToWait) {
    this.cohort = cohort
    this.hub = cohort.hub
    this.#clock = cohort.hub.clock
    this.units = units
    this.isToWait = isToWait
    this.#confirmation = new Confirmation(this)
    this.answer = new AwaitedAnswer(this)
  }

  /** Asks the server now, or if a command is on its way, after its answer. */
  ask() {
    if (this.state !== 'asking') return
    if (this.#isBusy) this.#isToAskAgain = true
    else this.#enter()
  }

  async #enter() {
    this.#isBusy = true
    this.#isToAskAgain = false
    this.#clock.clearTimeout(this.#timer)
    this.answer.expect()
    try {
      const opened = this.hub.open()
      const session = opened instanceof Promise ? await opened : opened
      if (this.state === 'asking') {
        if (this.session !== session) {
          this.session = session
          this.id = session.nextId()
          session.leases.set(this.id, this)
          this.#confirmation.forget()
        }
        const request = requestOf(this)
        const sent = this.#clock.now()
        this.answered(await this.hub.driver.enter(request), sent, request.maxHold, session)
      }
    } catch (error) {
      this.#isUnsure = true
      this.#failed(error)
    }
    this.#isBusy = false
    if (this.state === 'over') this.#leave()
    else if (this.#isToAskAgain && !this.claim()) this.ask()
  }

  /** Called when a message says that the request is granted. Without `grant` a command must ask for the grant. */
  granted(grant) {
    if (this.state !== 'asking') return
    this.#confirmation.note(grant)
    if (this.#isBusy || !this.claim()) this.ask()
  }

  /** Uses the grant of a message, and returns true. Returns false if there is none, or if it has arrived too late. */
  claim() {
    const taken = this.#confirmation.takeGrant()
    const { session } = this
    if (this.state !== 'asking' || taken === undefined || !session.isGood()) return false
    const { grant, until } = taken
    this.#clock.clearTimeout(this.#timer)
    // The message shows that the server works, even if it has not answered commands.
    this.answer.came()
    this.until = until
    if (this.#confirmation.sendLater(until)) {
      this.#begin(grant, until, session)
      return true
    }
    this.#isBusy = true
    this.#confirmation.send()
    // Admit callers only when the confirmation has been sent, because they may block the event loop.
    setImmediate(() => {
      this.#isBusy = false
      if (this.state === 'over') this.#leave()
      else this.#begin(grant, this.until, session)
    })
    return true
  }

  /** Called when the server has answered a confirmation. */
  confirmed(until, wanted) {
    this.until = until
    if (wanted) this.wanted()
    if (this.state !== 'held') return
    if (until <= 0) return this.#lose(lateClaim)
    this.#awaitEnd()
    this.#confirmation.keepOn()
  }

  /** Whether the lease is a claim that the server has not confirmed yet. */
  isClaim() {
    return this.#confirmation.isOpen()
  }

  #failed(error) {
    if (this.state !== 'asking') return
    // After an error of this library, asking again is no use.
    if (isLockError(error)) return this.cohort.failed(this, error)
    if (this.hub.isClosed) return this.cohort.failed(this, closedError(this.hub.name))
    this.answer.expect(error)
    // The end of the session may have requested to ask again at once. Pause instead.
    this.#isToAskAgain = false
    this.#lookIn(pause)
  }

  /** How long the server should keep the lease for this process, counted from when it gets the command. */
  maxHold() {
    return Math.min(this.cohort.maxHold, this.hub.settings.longestHold)
  }

  /** Called when no message can announce the grant. Rejects unless a connection or the grant arrives in time. */
  disconnected() {
    if (this.state === 'asking') this.answer.expect(this.hub.listeningError)
  }

  answered(answer, sent, maxHold, session) {
    if (this.state !== 'asking') return
    const { cohort, hub, isToWait } = this
    const state = answer?.state
    const until = sent + safely(maxHold)
    const isLate = state === 'held' && this.#clock.now() >= until
    if (state !== 'lost') session.isKnown = true
    const isLateAgain = isLate && this.#wasLate
    const fault = faultOf({ answer, isToWait, isKnown: session.isKnown, isLateAgain, maxHold })
    this.#wasLate = isLate
    if (state === 'lost') hub.lose(session, fault?.message ?? 'the server has ended its session')
    if (fault !== undefined) return this.#failed(fault)
    if (state === 'waiting' && hub.listeningError !== undefined) this.disconnected()
    else this.answer.came()
    cohort.reason = answer.reason
    if (state === 'held') {
      this.#begin(answer, until, session)
    } else if (state === 'waiting') {
      this.#confirmation.queued(sent, answer.clock)
      this.#lookIn(Math.min(answer.look, longestLook))
    } else if (state === 'refused') {
      cohort.denied(this)
    } else if (state === 'mismatch') {
      cohort.failed(this, mismatchError(cohort.title(), answer.capacity, cohort.capacity))
    } else {
      this.ask()
    }
  }

  #lookIn(time) {
    if (this.state === 'asking') this.#timer = this.#clock.setTimeout(() => this.ask(), time)
  }

  #begin({ token, wanted, abandoned }, until, session) {
    // The server may have ended the lease while its answer was on the way.
    if (!session.isGood() || this.#clock.now() >= until) {
      this.#confirmation.stop()
      this.ask()
      return
    }
    this.state = 'held'
    this.isAbandoned = abandoned
    this.until = until
    this.turn = new Turn(this.cohort, token)
    if (wanted || this.#isWantedSoon) this.wanted()
    if (!this.isClaim()) this.#confirmation.keepOn()
    this.hub.countHeld(1)
    this.#awaitEnd()
    this.cohort.granted(this)
  }

  /** Ends the lease at `until`, unless that moves or the lease ends earlier. */
  #awaitEnd() {
    this.#clock.clearTimeout(this.#timer)
    const time = Math.max(1, Math.ceil(this.until - this.#clock.now()))
    this.#timer = outside(() => this.#clock.setTimeout(() => this.#late(), time)).unref()
  }

  /** Called when other processes wait, perhaps before the grant: limits how long the lease stays here. */
  wanted() {
    this.#isWantedSoon = true
    if (this.state === 'held') this.turn.limit()
  }

  hasNoUse() {
    return this.holds.size === 0 && this.waiters.size === 0
  }

  /** Whether another caller of this thread may get the lease. */
  isToPassOn() {
    const time = this.#clock.now()
    const isGood = this.state === 'held' && time < this.until && this.session.isGood(time)
    return isGood && !this.turn.isOver(time)
  }

  /** Ends the lease or the request, which no caller has or wants any more. */
  end() {
    this.#stop('over')
    if (this.session !== null && !this.session.isOver) this.hub.leaving.add(this)
    if (!this.#isBusy) this.#leave()
  }

  #stop(state) {
    if (this.state === 'held') this.hub.countHeld(-1)
    this.state = state
    this.#confirmation.stop(this.#isUnsure)
    this.#clock.clearTimeout(this.#timer)
    this.answer.stop()
  }

  /** Tells the server that the lease has ended. */
  #leave() {
    const { session, id } = this
    if (session === null || session.isOver) return
    session.leases.delete(id)
    const { leaving } = this.hub
    leaving.tell(session, leavingOf(this), this.#isUnsure).then(() => leaving.remove(id))
  }

  /** Gives back all but `units`. */
  shrink(units) {
    this.units = units
    if (this.state === 'held') this.hub.leaving.tell(this.session, leavingOf(this, units), false)
  }

  sessionEnded(why, cause) {
    if (this.state === 'held') this.#lose(why, cause)
    else this.ask()
  }

  /** Called when the time of the lease is up, as far as this thread knows. */
  #late() {
    if (!this.isClaim()) {
      this.#lose(`it was held for longer than maxHold, ${this.cohort.maxHold} ms`)
      return
    }
    // If the event loop was blocked, the answer may have arrived unread. This turn of the loop reads it first.
    setImmediate(() => {
      if (this.isClaim()) this.#lose(lateClaim)
    })
  }

  /** Ends a lease that the server takes back by itself: holders' signals abort, and the next grant is abandoned. */
  #lose(why, cause) {
    this.#stop('lost')
    this.session.leases.delete(this.id)
    this.cohort.lost(this, lostError(this.cohort.title(), why, cause))
  }
}

/** Whether the request goes ahead of the queue, and its lease is of no use for later callers: see upgrade_lease.js. */
Lease.prototype.isFirst = false

module.exports = { Lease }
