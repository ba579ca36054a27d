'use strict'
// The one connection of an engine that hears what the server tells its session. Where it ends, another one takes its
// place, and waiters are told that something may have been missed. Clients can do that, too; but they stop when the
// user's reconnect strategy gives up, and the timer between two tries keeps the process alive.
//
//   none         to() has not been called, or has failed
//   connecting   until it listens to all channels
//   listening
//   cut          a timer runs, and then it connects again
//   closed
//
// make(hear, ended) makes a connection that is not open yet. It calls hear(text) for each message, and ended(error) once
// when it has ended by itself after open(). A message is 'w<key>' when another session waits for what this one holds, or
// 'g<id> <token> <whether others wait> <whether the holder before was lost> <end of the claim>'. A connection has
//
//   open()           a promise, rejected with the error of the server or the socket
//   listen(channel)  a promise
//   stop(channel)    a promise
//   check(channels)  a promise, rejected where no messages of these come through; may be missing
//   ping()           a promise for any answer; missing where the connection looks after itself, as those of clusters do
//   again(channel)   a promise: of clusters, where the slot of the channel has moved to a server that does not know us
//   close()          at once, at any time, any number of times; may be a promise for its end
const { clearTimeout, setTimeout } = require('node:timers')
const { inTime } = require('./patience.js')

/** Between two tries to connect, in milliseconds: it doubles up to the last one. */
const firstPause = 20
const lastPause = 2000

const grantOf = ([token, wanted, abandoned, until]) => ({
  token: BigInt(token),
  wanted: wanted === '1',
  abandoned: abandoned === '1',
  until: Number(until),
})

class Subscription {
  /** The connection that listens. */
  connection
  #make
  #patience
  /** The last one that was made. */
  #made
  /** What is listened to, or to be listened to. */
  #channels = []
  #heard = []
  #hear
  #opening
  #pause = firstPause
  #timer
  #pulse
  #isClosed = false

  /** Each step of `make()` that takes longer than `patience` ms has failed. */
  constructor(make, patience) {
    this.#make = make
    this.#patience = patience
  }

  /**
   * A promise: from now on it listens to `channels`, in place of those before. Calls granted(id, grant), wanted(key),
   * missed() when messages may have been lost, and trouble(error) when there is no connection (undefined: there is one
   * again).
   */
  async to(channels, hear) {
    this.#channels = channels
    this.#hear = hear
    if (this.connection === undefined) await this.#connect()
    const { connection } = this
    if (connection === undefined) throw new Error('the connection that listens has been cut')
    const before = this.#heard
    if (before === channels) return
    await this.#listen(connection, channels)
    for (const channel of before) await this.#inTime(connection.stop(channel))
  }

  #inTime(doing) {
    return inTime(doing, this.#patience)
  }

  async #listen(connection, channels) {
    for (const channel of channels) await this.#inTime(connection.listen(channel))
    this.#heard = channels
  }

  #connect() {
    clearTimeout(this.#timer)
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #open() {
    const connection = this.#make(
      (text) => this.#message(text),
      (error) => this.#cut(connection, error),
    )
    this.#made = connection
    try {
      await this.#inTime(connection.open())
      await this.#listen(connection, this.#channels)
      await connection.check?.(this.#channels)
      if (this.#isClosed) throw new Error('the connection that listens has been closed')
    } catch (error) {
      connection.close()
      this.#hear.trouble(error)
      throw error
    }
    this.connection = connection
    this.#pause = firstPause
    this.#hear.trouble(undefined)
    this.#beat(connection)
  }

  #message(text) {
    const what = text.slice(1)
    if (text[0] === 'w') {
      this.#hear.wanted(what)
      return
    }
    const [id, ...words] = what.split(' ')
    this.#hear.granted(id, grantOf(words))
  }

  /** A connection that nothing comes through looks like one on which nothing happens: it is asked. */
  #beat(connection) {
    if (connection.ping === undefined) return
    this.#pulse = setTimeout(async () => {
      try {
        await this.#inTime(connection.ping())
        if (this.connection === connection) this.#beat(connection)
      } catch (error) {
        this.#cut(connection, error)
      }
    }, this.#patience)
    this.#pulse.unref()
  }

  #cut(connection, error) {
    // While it is being opened, its caller hears of that.
    if (this.connection !== connection) return
    clearTimeout(this.#pulse)
    this.connection = undefined
    this.#heard = []
    connection.close()
    this.#hear.trouble(error)
    this.#connectLater()
  }

  #connectLater() {
    this.#timer = setTimeout(() => this.#connectAgain(), this.#pause)
    this.#timer.unref()
    this.#pause = Math.min(this.#pause * 2, lastPause)
  }

  async #connectAgain() {
    try {
      await this.#connect()
      this.#hear.missed()
    } catch {
      // trouble() has said why.
      if (!this.#isClosed) this.#connectLater()
    }
  }

  close() {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#pulse)
    this.connection = undefined
    return this.#made?.close()
  }
}

module.exports = { Subscription }
