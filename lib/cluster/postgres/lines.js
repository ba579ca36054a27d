'use strict'
// Sends the commands of a key in order. While one waits for its answer, the next ones use the same connection, because
// on another one they could overtake it. If pg has the option `pipeline`, they are sent at once, so that a release and
// the next acquire cost one round trip. An older pg sends each command after the answer to the one before.
const { now } = require('../clock.js')
const { ranks } = require('../commands.js')
const { outside } = require('../outside.js')

/** The most commands of one line, so that the other keys get its connection soon. */
const mostCommands = 4

/** Commands of one key that share a connection, until all of them have been answered. */
class Line {
  #room = mostCommands
  /** The commands that have not been sent: { command, resolve, reject }. */
  #unsent = []
  /** How many commands have been sent, and not been answered. */
  #underWay = 0
  #client
  /** When the server last answered. */
  #movedAt
  #failure
  /** The error of a command that the server has not answered in time. */
  #silence
  #end
  #patience
  #onAnswer
  /** Resolves when all commands have been answered. */
  ended
  /** The earlier line of the key, if this line waits for its end. */
  before
  rank = ranks.request

  constructor(patience, onAnswer, onEnd) {
    this.#patience = patience
    this.#onAnswer = onAnswer
    this.ended = new Promise((resolve) => {
      this.#end = () => {
        onEnd()
        resolve()
      }
    })
  }

  hasRoom() {
    return this.#room > 0 && this.#failure === undefined
  }

  /** Resolves to the result of `command`. */
  send(command) {
    this.#room--
    return new Promise((resolve, reject) => {
      this.#unsent.push({ command, resolve, reject })
      if (this.#client !== undefined) this.#sendNext()
    })
  }

  #sendNext() {
    while (this.#unsent.length > 0 && (this.#underWay === 0 || this.#client.pipeline === true)) {
      const { command, resolve, reject } = this.#unsent.shift()
      this.#underWay++
      this.#client.query(command, (error, result) => {
        if (error) reject(this.#failed(error))
        else resolve(result)
        // Only an error that the server has sent has a severity.
        if (!error || error.severity !== undefined) this.#onAnswer()
        this.#movedAt = now()
        this.#underWay--
        this.#sendNext()
      })
    }
    if (this.#underWay === 0) this.#end()
  }

  /** Returns the error to report for a command that has failed with `error`. */
  #failed(error) {
    this.#failure ??= error
    if (now() - this.#movedAt >= this.#patience) this.#silence ??= error
    // 26000: the prepared statement is missing, because the command before failed to prepare it. Report its error.
    return error.code === '26000' ? this.#failure : error
  }

  /** Sends the commands on a connection of `pool`. Rejects if there is no connection, or if the server is silent. */
  async run(pool) {
    this.#client = await pool.connect()
    this.#movedAt = now()
    this.#sendNext()
    await this.ended
    this.#client.release(this.#failure)
    if (this.#silence !== undefined) throw this.#silence
  }

  /** Rejects all commands, because the line has no connection. */
  fail(error) {
    for (const { reject } of this.#unsent.splice(0)) reject(error)
    this.#end()
  }
}

class Lines {
  #pool
  #commands
  #patience
  #onAnswer
  /** The latest line of each key. */
  #lines = new Map()

  /** Calls onAnswer() for each answer. A server that does not answer for `patience` ms counts as silent. */
  constructor(pool, commands, patience, onAnswer) {
    this.#pool = pool
    this.#commands = commands
    this.#patience = patience
    this.#onAnswer = onAnswer
  }

  /**
   * Resolves to the result of `command`, which the server executes after the earlier commands of `key`. These get its
   * `rank`, too.
   */
  send(key, command, rank = ranks.request) {
    const latest = this.#lines.get(key)
    const line = latest?.hasRoom() ? latest : this.#open(key, latest)
    const sent = line.send(command)
    this.hurry(key, rank)
    return sent
  }

  /** Gives the commands of `key` at most the rank `rank`: see commands.js. */
  hurry(key, rank) {
    for (let line = this.#lines.get(key); line !== undefined; line = line.before) {
      line.rank = Math.min(line.rank, rank)
      this.#commands.hurry(line, rank)
    }
  }

  /** Returns a new line of `key`, which begins after the end of `before`, if there is one. */
  #open(key, before) {
    const line = new Line(this.#patience, this.#onAnswer, () => {
      if (this.#lines.get(key) === line) this.#lines.delete(key)
    })
    line.before = before
    this.#lines.set(key, line)
    const run = () => {
      line.before = undefined
      return this.#commands.run(() => line.run(this.#pool), { key: line, rank: line.rank })
    }
    // The pool's timer for idle connections would keep the async context of the caller.
    const ran = outside(() => (before === undefined ? run() : before.ended.then(run)))
    ran.catch((error) => line.fail(error))
    return line
  }
}

module.exports = { Lines }
