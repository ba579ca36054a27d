'use strict'
// The start of an engine in this thread. The engine connects, starts the renewing thread, and opens the first session,
// by the client of this thread or by the renewing thread, which first loads its own client. On a busy machine that
// takes seconds, for which the server is not responsible. So this time does not count against a caller's timeout,
// unless the start fails.

/** The limit of a start that does not fail, in milliseconds. */
const longestStart = 30_000

class Start {
  #clock
  /** Whether a session has been opened. */
  isDone = false
  /** The error of the last attempt to open a session. */
  failure
  /** The functions to call when the start ends, each with the time at which it began to wait. */
  #waiting = new Map()

  constructor(clock) {
    this.#clock = clock
  }

  /**
   * Calls `begin(passed)` at the end of the start. `passed` is the time to count, in ms. Returns a function that
   * cancels it.
   */
  after(begin) {
    this.#waiting.set(begin, this.#clock.now())
    return () => this.#waiting.delete(begin)
  }

  done() {
    this.isDone = true
    this.failure = undefined
    this.#end(() => 0)
  }

  /** Called when an attempt to open a session has failed, or a connection has trouble. */
  failed() {
    const time = this.#clock.now()
    this.#end((since) => time - since)
  }

  #end(passedSince) {
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (const [begin, since] of all) begin(passedSince(since))
  }
}

module.exports = { longestStart, Start }
