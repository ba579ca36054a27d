'use strict'
// The start of an engine in this thread: it connects, starts the renewing thread, and opens the first session, by the
// client of this thread or by the other thread, which loads its own for that. On a busy machine that takes seconds in
// which the server idles. So the start counts against no limit of a caller, unless it fails: then all of its time counts.

/** The limit of a start that does not fail, in milliseconds. */
const longestStart = 30_000

class Start {
  #clock
  #isDone = false
  /** Why the last attempt to open a session has failed. */
  failure
  /** The functions to call when the start ends, each with the time since which it waits. */
  #waiting = new Map()

  constructor(clock) {
    this.#clock = clock
  }

  /** Whether no session has been opened yet. */
  isAhead() {
    return !this.#isDone
  }

  /** Calls `begin(passed)` at the end of the start. `passed` is the time to count, in ms. Returns a function to stop it. */
  after(begin) {
    this.#waiting.set(begin, this.#clock.now())
    return () => this.#waiting.delete(begin)
  }

  done() {
    this.#isDone = true
    this.failure = undefined
    this.#end(() => 0)
  }

  /** The server is away or refuses: an attempt has failed, or a connection has trouble. */
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
