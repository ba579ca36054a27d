'use strict'
// The queue of a driver's commands for its connections. A pool has such a queue, too, but limits the wait in it by the
// time to connect: with thousands of keys at once it would blame the server for a queue of this process.
const { now } = require('./clock.js')

class Commands {
  #room
  #patience
  #onMove
  /** The commands that wait for room, in order. */
  #waiting = new Set()

  /**
   * Runs at most `room` commands at once. A command that fails after `patience` ms or more shows that the server is silent.
   * Calls onMove() when a command leaves the queue.
   */
  constructor(room, patience, onMove) {
    this.#room = room
    this.#patience = patience
    this.#onMove = onMove
  }

  /** Whether a command would be sent at once. */
  isFree() {
    return this.#room > 0
  }

  /** Settles as send() does, which is called when there is room. */
  async run(send) {
    if (this.#room > 0) this.#room--
    else await new Promise((resolve, reject) => this.#waiting.add({ resolve, reject }))
    const start = now()
    try {
      return await send()
    } catch (error) {
      // A silent server is silent for the others, too: they need not find that out one after another.
      if (now() - start >= this.#patience) this.#rejectAll(error)
      throw error
    } finally {
      this.#next()
    }
  }

  #next() {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#room++
      return
    }
    this.#waiting.delete(first)
    this.#onMove()
    first.resolve()
  }

  #rejectAll(error) {
    const all = [...this.#waiting]
    this.#waiting.clear()
    for (const { reject } of all) reject(error)
  }
}

module.exports = { Commands }
