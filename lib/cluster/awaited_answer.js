'use strict'
// Whether the server answers a request: it has `answerTimeout` from the first command that it has not answered.
const { engineError } = require('./errors.js')
const { startPatience } = require('./patience.js')

class AwaitedAnswer {
  #hub
  #title
  #giveUp
  #hasCome = false
  /** Why none has come since. */
  #failure
  #endPatience

  /** `giveUp(error)` when the time is up. */
  constructor(hub, title, giveUp) {
    this.#hub = hub
    this.#title = title
    this.#giveUp = giveUp
  }

  expect(failure = this.#failure) {
    const { answerTimeout } = this.#hub.settings
    this.#failure = failure
    this.#endPatience ??= startPatience(answerTimeout, () => {
      this.#giveUp(this.error(answerTimeout))
    })
  }

  /** The server is there: it need not hurry any more. */
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
    const { name, trouble } = this.#hub
    return engineError(name, this.#title(), Math.round(time), this.#failure ?? trouble)
  }
}

module.exports = { AwaitedAnswer }
