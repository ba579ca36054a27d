'use strict'
// Watches whether the server answers a request: it has `answerTimeout` from the first unanswered
// command. A command that waits in the queue of its driver has not been sent yet: while that queue moves on, the server
// answers.
const { engineError } = require('./errors.js')
const { startPatience } = require('./patience.js')

class AwaitedAnswer {
  #hub
  #unanswered
  #title
  #giveUp
  #hasCome = false
  /** The latest failure since then. */
  #failure
  #endPatience
  /** When the timeout has started. */
  #start = 0

  /** The object is in the set `unanswered` until its answer has come. It calls `giveUp(error)` when the time is up. */
  constructor(hub, unanswered, title, giveUp) {
    this.#hub = hub
    this.#unanswered = unanswered
    this.#title = title
    this.#giveUp = giveUp
  }

  expect(failure = this.#failure) {
    this.#failure = failure
    if (failure !== undefined || !this.#hasCome) this.#unanswered.add(this)
    if (this.#endPatience === undefined) this.#await()
  }

  #await() {
    const { clock, settings } = this.#hub
    const { answerTimeout } = settings
    this.#start = clock.now()
    const end = () => {
      if (this.#isSilent()) this.#giveUp(this.error(answerTimeout))
      else this.#await()
    }
    this.#endPatience = startPatience(answerTimeout, end, { clock })
  }

  /** The server has answered: the timeout starts anew with the next command. */
  came() {
    this.#hasCome = true
    this.#failure = undefined
    this.stop()
  }

  stop() {
    this.#unanswered.delete(this)
    this.#endPatience?.()
    this.#endPatience = undefined
  }

  #isSilent() {
    return this.#failure !== undefined || this.#hub.movedAt <= this.#start
  }

  isMissing() {
    return this.#isSilent()
  }

  error(time) {
    const { name, trouble, isConnecting } = this.#hub
    const cause = this.#failure ?? trouble
    return engineError(name, this.#title(), Math.round(time), cause, isConnecting)
  }
}

module.exports = { AwaitedAnswer }
