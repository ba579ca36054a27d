'use strict'
// The one connection of an engine that receives the server's messages to its session. When it ends, another one
// replaces it, and the listener is told that messages may have been lost. Clients can reconnect, too, but they stop
// when the program's reconnect strategy gives up, and their retry timer keeps the process alive.
//
//   none         to() has not been called, or has failed
//   connecting   until the connection listens to all channels
//   listening
//   cut          a timer runs until the next attempt to connect
//   closed
//
// make(onMessage, onEnd) makes a connection that is not open yet. It calls onMessage(text) for each message, and
// onEnd(error) once if it ends by itself after open(). A message is 'w<key>' when another session waits for a key that
// is held here, or for a grant 'g<id> <token> <whether others wait> <whether the previous holder was lost> <end of the
// claim>'. A connection has
//
//   open()           connects. Returns a promise, which rejects with the error of the server or the socket
//   listen(channel)  subscribes. Returns a promise
//   stop(channel)    unsubscribes. Returns a promise
//   check(channels)  optional. Returns a promise, which rejects if no messages of these channels arrive
//   ping()           returns a promise for any answer. Missing if the connection checks itself
//   again(channel)   for clusters only: subscribes anew after the slot of the channel has moved. Returns a promise
//   close()          may be called at any time, any number of times. May return a promise for the end
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { inTime } = require('./patience.js')

/** The first pause between two attempts to connect, in milliseconds. It doubles up to the longest. */
const firstPause = 20
const lastPause = 2000

const grantOf = ([token, wanted, abandoned, until]) => ({
  token: BigInt(token),
  wanted: wanted === '1',
  abandoned: abandoned === '1',
  until: Number(until),
})

class Subscription {
  /** The connection, while it listens. */
  connection
  #make
  #patience
  /** The latest connection made. */
  #made
  /** The channels to listen to. */
  #channels = []
  #listened = []
  #listener
  #opening
  #pause = firstPause
  #timer
  #pulse
  #isClosed = false

  /** A step of a connection that takes longer than `patience` ms counts as failed. */
  constructor(make, patience) {
    this.#make = make
    this.#patience = patience
  }

  /**
   * Resolves when it listens to `channels`, which replace the former ones. Calls the methods of `listener`: granted(id,
   * grant), wanted(key), missed() when messages may have been lost, and trouble(error) when the connection is down, or
   * trouble(undefined) when it is up again.
   */
  async to(channels, listener) {
    this.#channels = channels
    this.#listener = listener
    if (this.connection === undefined) await this.#connect()
    const { connection } = this
    if (connection === undefined) throw new Error('the connection that listens has been cut')
    const before = this.#listened
    if (before === channels) return
    await this.#listen(connection, channels)
    for (const channel of before) await this.#inTime(connection.stop(channel))
  }

  #inTime(doing) {
    return inTime(doing, this.#patience)
  }

  async #listen(connection, channels) {
    for (const channel of channels) await this.#inTime(connection.listen(channel))
    this.#listened = channels
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
      this.#listener.trouble(error)
      throw error
    }
    this.connection = connection
    this.#pause = firstPause
    this.#listener.trouble(undefined)
    this.#beat(connection)
  }

  #message(text) {
    const what = text.slice(1)
    if (text[0] === 'w') {
      this.#listener.wanted(what)
      return
    }
    const [id, ...words] = what.split(' ')
    this.#listener.granted(id, grantOf(words))
  }

  /** Pings the connection, because a dead connection looks like an idle one. */
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

  /** Subscribes anew to a channel whose slot may have moved. */
  async again(channel) {
    const { connection } = this
    try {
      await this.#inTime(connection?.again(channel))
    } catch (error) {
      this.#cut(connection, error)
    }
  }

  #cut(connection, error) {
    // During open() its caller handles the error.
    if (connection === undefined || this.connection !== connection) return
    clearTimeout(this.#pulse)
    this.connection = undefined
    this.#listened = []
    connection.close()
    this.#listener.trouble(error)
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
      this.#listener.missed()
    } catch {
      // trouble() has reported the error.
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
