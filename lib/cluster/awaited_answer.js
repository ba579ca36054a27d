'use strict'
// Watches whether the server answers a request. The server has `answerTimeout` from the first unanswered command. The
// start of an engine has a separate limit (start.js). A command in the driver's queue has not been sent yet, so while
// that queue moves on, the server answers.
const { engineError, startError } = require('./errors.js')
const { startPatience } = require('./patience.js')
const { longestStart } = require('./start.js')

class AwaitedAnswer {
  #hub
  #unanswered
  #title
  #giveUp
  #hasCome = false
  /** The latest failure since the last answer. */
  #failure
  #endPatience
  /** When the timeout started. */
  #start = 0
  /** Whether the timeout is that of the start of the engine. */
  #isOfStart = false
  #endWait

  /**
   * The object is in the set `unanswered` until the answer has arrived. It calls `giveUp(error)` when the time is up.
   */
  constructor(hub, unanswered, title, giveUp) {
    this.#hub = hub
    this.#unanswered = unanswered
    this.#title = title
    this.#giveUp = giveUp
  }

  expect(failure = this.#failure) {
    this.#failure = failure
    if (failure !== undefined || !this.#hasCome) this.#unanswered.add(this)
    if (this.#endPatience === undefined) this.#begin()
  }

  #begin() {
    const { clock, isStarting, settings } = this.#hub
    this.#start = clock.now()
    this.#isOfStart = isStarting
    if (isStarting) this.#endWait = this.#hub.afterStart((passed) => this.#startIsOver(passed))
    this.#await(isStarting ? longestStart : settings.answerTimeout)
  }

  #await(time) {
    const { clock, settings } = this.#hub
    const end = () => {
      if (this.#isOfStart) this.#giveUp(startError(this.#hub.name, time, this.#hub.trouble))
      else if (this.#isSilent()) this.#giveUp(this.error(settings.answerTimeout))
      else this.#begin()
    }
    this.#endPatience = startPatience(time, end, { clock })
  }

  /**
   * Called when the start of the engine is over. Then `answerTimeout` counts, of which `passed` ms have already passed.
   */
  #startIsOver(passed) {
    const { clock, settings } = this.#hub
    this.#isOfStart = false
    this.#start = clock.now() - passed
    this.#endPatience()
    this.#await(Math.max(0, settings.answerTimeout - passed))
  }

  /** Called when the server has answered. The timeout starts anew with the next command. */
  came() {
    this.#hasCome = true
    this.#failure = undefined
    this.stop()
  }

  stop() {
    this.#unanswered.delete(this)
    this.#endWait?.()
    this.#endPatience?.()
    this.#endPatience = undefined
  }

  #isSilent() {
    return this.#failure !== undefined || this.#hub.movedAt <= this.#start
  }

  /** Whether a command has failed, or the server has been silent for `time` ms or more. */
  isMissing(time) {
    if (this.#failure !== undefined) return true
    return this.#isSilent() && this.#hub.clock.now() - this.#start >= time
  }

  error(time) {
    const { name, trouble } = this.#hub
    const cause = this.#failure ?? trouble
    return engineError(name, this.#title(), Math.round(time), cause, this.#hasCome)
  }
}

module.exports = { AwaitedAnswer }
