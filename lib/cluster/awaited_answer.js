'use strict'
// Watches whether the server answers a request. The server has `answerTimeout` from the first unanswered command. The
// start of an engine has a separate limit (start.js). A command in the driver's queue has not been sent yet, so while
// that queue moves on, the server answers.
const { engineError, startError } = require('./errors.js')
const { startPatience } = require('./patience.js')
const { longestStart } = require('./start.js')

class AwaitedAnswer {
  #lease
  #hub
  /** Whether the server has answered the request. */
  hasCome = false
  /** The latest failure since the last answer. */
  #failure
  /** When the timeout started. */
  #start = 0
  #endPatience
  #endWait

  /**
   * The object is in the set `unanswered` of the lease's cohort until the answer has arrived. The lease fails when the
   * time is up.
   */
  constructor(lease) {
    this.#lease = lease
    this.#hub = lease.hub
  }

  expect(failure = this.#failure) {
    this.#failure = failure
    if (failure !== undefined || !this.hasCome) this.#lease.cohort.unanswered.add(this)
    if (this.#endPatience === undefined) this.#begin()
  }

  #begin() {
    const { isStarting, name, start } = this.#hub
    if (!isStarting) return this.#count(0)
    this.#endWait = start.after((passed) => {
      this.#endPatience()
      this.#count(passed)
    })
    this.#await(longestStart, 0, () => {
      this.#fail(startError(name, longestStart, this.#hub.trouble))
    })
  }

  /** Counts `answerTimeout`, of which `passed` ms have passed. */
  #count(passed) {
    const { answerTimeout } = this.#hub.settings
    this.#await(answerTimeout, passed, () => {
      if (this.#isSilent()) this.#fail(this.error(answerTimeout))
      else this.#begin()
    })
  }

  #await(time, passed, end) {
    const { clock } = this.#hub
    this.#start = clock.now() - passed
    this.#endPatience = startPatience(Math.max(0, time - passed), end, { clock })
  }

  #fail(error) {
    this.#lease.cohort.failed(this.#lease, error)
  }

  /** Called when the server has answered. The timeout starts anew with the next command. */
  came() {
    this.hasCome = true
    this.#failure = undefined
    this.stop()
  }

  stop() {
    this.#lease.cohort.unanswered.delete(this)
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
    const title = this.#lease.cohort.title()
    return engineError(name, title, Math.round(time), cause, this.hasCome)
  }
}

module.exports = { AwaitedAnswer }
