'use strict'
// The commands of one key: while one is under way, the next ones follow it on its connection, because on another they could
// overtake it. A client that has pg's option `pipeline` sends them at once, so that a release and the next acquire cost one
// round trip; an older one sends each after the answer of the one before.
const { now } = require('../clock.js')
const { outside } = require('../outside.js')

/** The most commands of one line: with few connections, those of other keys wait for its end. */
const mostCommands = 4

/** The commands of one key on one connection, from the first one until none is under way. */
class Line {
  #room = mostCommands
  #underWay = 0
  #last = Promise.resolve()
  #client
  #connected
  #failed
  /** When the server has last answered. */
  #movedAt
  #failure
  /** The failure of a command that the server has not answered in time. */
  #silence
  #end
  #patience
  #onAnswer
  /** Resolves when no command is under way. */
  ended
  /** The line of the same key that it waits for. */
  before
  isUrgent = false

  constructor(patience, onAnswer, onEnd) {
    this.#patience = patience
    this.#onAnswer = onAnswer
    this.#client = new Promise((resolve, reject) => {
      this.#connected = resolve
      this.#failed = reject
    })
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
  async send(command) {
    this.#room--
    this.#underWay++
    const sent = this.#follow(command, this.#last)
    this.#last = sent
    try {
      const result = await sent
      this.#onAnswer()
      return result
    } catch (error) {
      // An error of the server has a severity.
      if (error.severity !== undefined) this.#onAnswer()
      this.#failure ??= error
      if (now() - this.#movedAt >= this.#patience) this.#silence ??= error
      // It has no statement of that name, because the command failed that was to prepare it.
      throw error.code === '26000' ? this.#failure : error
    } finally {
      this.#movedAt = now()
      if (--this.#underWay === 0) this.#end()
    }
  }

  async #follow(command, before) {
    const client = await this.#client
    if (client.pipeline !== true) await Promise.allSettled([before])
    return new Promise((resolve, reject) => {
      client.query(command, (error, result) => (error ? reject(error) : resolve(result)))
    })
  }

  /** Lends the line a connection of `pool`. Rejects when there is none, or when the server is silent. */
  async run(pool) {
    const client = await pool.connect()
    this.#movedAt = now()
    this.#connected(client)
    await this.ended
    client.release(this.#failure)
    if (this.#silence !== undefined) throw this.#silence
  }

  /** There is no connection for it. */
  fail(error) {
    this.#failed(error)
  }
}

class Lines {
  #pool
  #commands
  #patience
  #onAnswer
  /** The latest line of each key. */
  #lines = new Map()

  /** A connection of `pool` that does not answer for `patience` ms is silent. Calls onAnswer() for each answer. */
  constructor(pool, commands, patience, onAnswer) {
    this.#pool = pool
    this.#commands = commands
    this.#patience = patience
    this.#onAnswer = onAnswer
  }

  /**
   * Resolves to the result of `command`, which the server executes after those of `key` that were sent before. An urgent one
   * goes ahead of other keys.
   */
  send(key, command, isUrgent = false) {
    const latest = this.#lines.get(key)
    const line = latest?.hasRoom() ? latest : this.#open(key, latest)
    const sent = line.send(command)
    if (isUrgent) this.hurry(key)
    return sent
  }

  /** The commands of `key` are urgent (commands.js). */
  hurry(key) {
    for (let line = this.#lines.get(key); line !== undefined; line = line.before) {
      line.isUrgent = true
      this.#commands.hurry(line)
    }
  }

  /** A line that begins after `before`, if there is one. */
  #open(key, before) {
    const line = new Line(this.#patience, this.#onAnswer, () => {
      if (this.#lines.get(key) === line) this.#lines.delete(key)
    })
    line.before = before
    this.#lines.set(key, line)
    const run = () => {
      line.before = undefined
      return this.#commands.run(() => line.run(this.#pool), { key: line, isUrgent: line.isUrgent })
    }
    // The pool's timer of an idle connection would keep the async context of the caller.
    const ran = outside(() => (before === undefined ? run() : before.ended.then(run)))
    ran.catch((error) => line.fail(error))
    return line
  }
}

module.exports = { Lines }
