'use strict'
// The queue in which a driver's commands wait for a connection. A pool has a queue, too, but limits the wait in it by
// the time to connect: with thousands of keys at once that would look as if the server did not answer.
const { now } = require('./clock.js')

/**
 * The ranks of commands: a lower rank goes first. A grant ends soon, so other commands must not delay it. A release lets
 * other processes go on. The next request for its key may go with it, so releases must not always go first.
 */
const ranks = { grant: 0, release: 1, request: 2 }

/** How many releases in a row go ahead of the requests that wait. */
const mostAhead = 2

class Commands {
  #room
  #patience
  #onMove
  /** How many releases have gone since the last request. */
  #ahead = 0
  /** The commands that wait for room, by rank. Each Map has those of a rank in order, by their key. */
  #queues = Object.values(ranks).map(() => new Map())

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
   * command at a time.
   */
  async run(send, { key = {}, rank = ranks.request } = {}) {
    const queue = this.#queues[rank]
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

  /** Gives the command of this key the rank `rank`, if it still waits in a higher one. */
  hurry(key, rank) {
    for (const queue of this.#queues.slice(rank + 1)) {
      const waiter = queue.get(key)
      if (waiter !== undefined) this.#queues[rank].set(key, waiter)
      queue.delete(key)
    }
  }

  #next() {
    const [, releases, requests] = this.#queues
    let queue = this.#queues.find(({ size }) => size > 0)
    if (queue === undefined) {
      this.#room++
      return
    }
    if (queue === releases && this.#ahead++ >= mostAhead && requests.size > 0) queue = requests
    if (queue === requests) this.#ahead = 0
    const [[key, { resolve }]] = queue
    queue.delete(key)
    this.#onMove()
    resolve()
  }

  #rejectAll(error) {
    const all = this.#queues.flatMap((queue) => [...queue.values()])
    for (const queue of this.#queues) queue.clear()
    for (const { reject } of all) reject(error)
  }
}

module.exports = { Commands, ranks }
