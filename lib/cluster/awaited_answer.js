'use strict'
// Watches whether the server answers a request: it has `answerTimeout` from the first unanswered
// command.
const { engineError } = require('./errors.js')
const { startPatience } = require('./patience.js')

class AwaitedAnswer {
  #hub
  #title
  #giveUp
  #hasCome = false
  /** The latest failure since then. */
  #failure
  #endPatience

  /** Calls `giveUp(error)` when the time is up. */
  constructor(hub, title, giveUp) {
    this.#hub = hub
    this.#title = title
    this.#giveUp = giveUp
  }

  expect(failure = this.#failure) {
    const { answerTimeout } = this.#hub.settings
    this.#failure = failure
    const giveUp = () => this.#giveUp(this.error(answerTimeout))
    this.#endPatience ??= startPatience(answerTimeout, giveUp, { clock: this.#hub.clock })
  }

  /** The server has answered: the timeout starts anew with the next command. */
  came() {
    this.#hasCome = true
    this.#failure = undefined
    this.stop()
  }

  stop() {
    this.#endPatience?.()
    this.#endPatience = undefined
  }

  isMissing() {
    return !this.#hasCome || this.#failure !== undefined
  }

  error(time) {
    const { name, trouble, isConnecting } = this.#hub
    const cause = this.#failure ?? trouble
    return engineError(name, this.#title(), Math.round(time), cause, isConnecting)
  }
}

module.exports = { AwaitedAnswer }
