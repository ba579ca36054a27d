'use strict'
// The one connection of an engine that hears of what happens in Redis. Where it ends, another one takes its place, and
// waiters are told that something may have been missed. The clients can do that, too; but they stop when the user's
// reconnect strategy gives up, and the timer between two tries keeps the process alive.
//
//   none         to() has not been called, or has failed
//   connecting   until all channels are listened to
//   listening
//   cut          a timer runs, and then it connects again
//   closed
//
// make(hear, ended) makes a connection that is not open yet. It calls hear(message), and ended(error) once when it has
// ended by itself after open(). It has
//
//   open()           a promise, rejected with the error of the server or the socket
//   listen(channel)  a promise
//   stop(channel)    a promise
//   ping()           a promise for any answer; missing where the connection looks after itself, as those of clusters do
//   close()          at once, at any time, any number of times
const { clearTimeout, setTimeout } = require('node:timers')
const { inTime } = require('../patience.js')

/** Between two tries to connect, in milliseconds: it doubles up to the last one. */
const firstPause = 20
const lastPause = 2000

class Subscriber {
  #make
  #patience
  /** The last one that was made, and the one that listens. */
  #made
  #connection
  /** What is listened to, or to be listened to. */
  #channels = []
  #heard = []
  #hear
  #opening
  #pause = firstPause
  #timer
  #pulse
  #isClosed = false

  /** What takes longer than `patience` ms has failed. */
  constructor(make, patience) {
    this.#make = make
    this.#patience = patience
  }

  /**
   * A promise: from now on it listens to `channels`, in place of those before. Calls message(text), missed() when
   * messages may have been lost, and trouble(error) when there is no connection (undefined: there is one again).
   */
  async to(channels, hear) {
    this.#channels = channels
    this.#hear = hear
    if (this.#connection === undefined) await this.#connect()
    const before = this.#heard
    if (before === channels) return
    await this.#listen(this.#connection, channels)
    for (const channel of before) await this.#connection.stop(channel)
  }

  /** Of a cluster: where the slot of the channel has moved, its new server does not know of us. */
  async again(channel) {
    await this.#connection?.again(channel)
  }

  async #listen(connection, channels) {
    for (const channel of channels) await connection.listen(channel)
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
      (message) => this.#hear.message(message),
      (error) => this.#cut(connection, error),
    )
    this.#made = connection
    try {
      await inTime(this.#begin(connection), this.#patience)
      if (this.#isClosed) throw new Error('the connection that listens has been closed')
    } catch (error) {
      connection.close()
      this.#hear.trouble(error)
      throw error
    }
    this.#connection = connection
    this.#pause = firstPause
    this.#hear.trouble(undefined)
    this.#beat(connection)
  }

  async #begin(connection) {
    await connection.open()
    await this.#listen(connection, this.#channels)
  }

  /** A connection that nothing comes through looks like one on which nothing happens: it is asked. */
  #beat(connection) {
    if (connection.ping === undefined) return
    this.#pulse = setTimeout(async () => {
      try {
        await inTime(connection.ping(), this.#patience)
        if (this.#connection === connection) this.#beat(connection)
      } catch (error) {
        this.#cut(connection, error)
      }
    }, this.#patience)
    this.#pulse.unref()
  }

  #cut(connection, error) {
    // While it is being opened, its caller hears of that.
    if (this.#connection !== connection) return
    clearTimeout(this.#pulse)
    this.#connection = undefined
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
    this.#made?.close()
    this.#connection = undefined
  }
}

module.exports = { Subscriber }
