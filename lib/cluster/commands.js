'use strict'
// The queue in which a driver's commands wait for a connection. A pool has a queue, too, but limits the wait in it by
// the time to connect: with thousands of keys at once that would look as if the server did not answer.
const { now } = require('./clock.js')

class Commands {
  #room
  #patience
  #onMove
  /** The commands that wait for room, in order, by their key. Urgent commands go first. */
  #waiting = new Map()
  #urgent = new Map()

  /**
   * Runs at most `room` commands at once. If a command fails after `patience` ms or more, the server is silent. Calls
   * onMove() when a command leaves the queue.
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
   * Calls send() when there is room, and settles as it does. hurry() finds a command by its `key`: a key has at most one
   * command at a time. An urgent command belongs to a grant that ends soon, so other commands must not delay it.
   */
  async run(send, { key = {}, isUrgent = false } = {}) {
    const queue = isUrgent ? this.#urgent : this.#waiting
    if (this.#room > 0) this.#room--
    else await new Promise((resolve, reject) => queue.set(key, { resolve, reject }))
    const start = now()
    try {
      return await send()
    } catch (error) {
      // The server is silent for all commands, so reject all now, rather than one after another.
      if (now() - start >= this.#patience) this.#rejectAll(error)
      throw error
    } finally {
      this.#next()
    }
  }

  /** Makes the command of this key urgent, if it still waits. */
  hurry(key) {
    const waiter = this.#waiting.get(key)
    if (waiter === undefined) return
    this.#waiting.delete(key)
    this.#urgent.set(key, waiter)
  }

  #next() {
    const queue = this.#urgent.size > 0 ? this.#urgent : this.#waiting
    const [first] = queue
    if (first === undefined) {
      this.#room++
      return
    }
    const [key, { resolve }] = first
    queue.delete(key)
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
