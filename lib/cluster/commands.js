'use strict'
// The queue of a driver's commands for its connections. A pool has such a queue, too, but limits the wait in it by the
// time to connect: with thousands of keys at once it would blame the server for a queue of this process.
const { now } = require('./clock.js')

class Commands {
  #room
  #patience
  #onMove
  /** The commands that wait for room, in order, by what they are `of`. Urgent ones go first. */
  #waiting = new Map()
  #urgent = new Map()

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

  /**
   * Settles as send() does, which is called when there is room. `of` is an object of this command alone, for hurry(). An
   * urgent command is part of a grant that ends soon: those that are not must not delay it.
   */
  async run(send, { of = {}, isUrgent = false } = {}) {
    const queue = isUrgent ? this.#urgent : this.#waiting
    if (this.#room > 0) this.#room--
    else await new Promise((resolve, reject) => queue.set(of, { resolve, reject }))
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

  /** The command `of` this object is urgent from now on, if it still waits. */
  hurry(of) {
    const waiter = this.#waiting.get(of)
    if (waiter === undefined) return
    this.#waiting.delete(of)
    this.#urgent.set(of, waiter)
  }

  #next() {
    const queue = this.#urgent.size > 0 ? this.#urgent : this.#waiting
    const [first] = queue
    if (first === undefined) {
      this.#room++
      return
    }
    const [of, { resolve }] = first
    queue.delete(of)
    this.#onMove()
    resolve()
  }

  #rejectAll(error) {
    const all = [...this.#urgent.values(), ...this.#waiting.values()]
    this.#urgent.clear()
    this.#waiting.clear()
    for (const { reject } of all) reject(error)
  }
}

module.exports = { Commands }
