'use strict'
// The one connection of a process that hears what happens to its session. Where it is cut, another one takes its
// place, and waiters are told that something may have been missed.
//
//   none         nobody has called listen()
//   connecting   until the server listens for us
//   listening    `backend` is the process of the server that does
//   cut          a timer runs, and then it connects again
//   closed
const { setTimeout: after } = require('node:timers/promises')
const { clearTimeout, setTimeout } = require('node:timers')
const { lockError } = require('../../core/errors.js')
const { patient } = require('./connections.js')
const { channelOf } = require('./names.js')

/** Between two tries to connect, in milliseconds: it doubles up to the last one. */
const firstPause = 20
const lastPause = 2000
/** How long news may take to come back through what stands between the server and us. */
const echoTime = 2000

const poolerError = () =>
  lockError(
    'ERR_LOCK_ENGINE_SESSION',
    'this connection to PostgreSQL goes through something that gives it another session for each ' +
      'transaction, as pgbouncer does with pool_mode=transaction: LISTEN hears nothing there. ' +
      'Give postgres(pool, { connection }) what leads to the server itself, or to a pool in session ' +
      'mode; withTransaction() needs no session, and works with any pool',
  )

const cutError = () => new Error('the connection that listens has been cut')

class Listener {
  #Client
  #config
  #patience
  #client
  #session
  /** The session that the connection listens for now. */
  #heard
  #hear
  #pause = firstPause
  #timer
  #pulse
  #connecting
  #isClosed = false
  #onEcho
  backend = null

  /** What takes more than `patience` ms has failed. */
  constructor(Client, config, patience) {
    this.#Client = patient(Client, patience)
    this.#config = { ...config, connectionTimeoutMillis: patience, keepAlive: true }
    this.#patience = patience
  }

  async listen(session, hear) {
    this.#session = session
    this.#hear = hear
    if (this.backend === null) await this.#connect()
    const before = this.#heard
    if (before === session) return
    await this.#hearOf(session)
    await this.#command(`UNLISTEN "${channelOf(before)}"`)
  }

  async #hearOf(session) {
    await this.#command(`LISTEN "${channelOf(session)}"`)
    this.#heard = session
  }

  #connect() {
    clearTimeout(this.#timer)
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #open() {
    const client = new this.#Client(this.#config)
    // After the first of these nothing comes of it any more.
    client.on('error', (error) => this.#cut(client, error))
    client.on('end', () => this.#cut(client, cutError()))
    try {
      await client.connect()
      client.on('notification', (message) => this.#pass(message))
      this.#client = client
      const { rows } = await this.#command('SELECT pg_backend_pid() AS pid')
      await this.#hearOf(this.#session)
      // What stands between us and the server gives us a process number of its own.
      const pid = Number(rows[0].pid)
      if (client.processID !== pid) await this.#hearEcho()
      if (this.#isClosed) throw new Error('the listener has been closed')
      this.backend = pid
    } catch (error) {
      if (this.#client === client) this.#client = undefined
      client.end()
      this.#hear.trouble(error)
      throw error
    }
    this.#hear.trouble(undefined)
    client.unref()
    this.#pause = firstPause
    this.#beat(client)
  }

  async #command(text) {
    if (this.#client === undefined) throw cutError()
    return this.#client.query({ text, query_timeout: this.#patience })
  }

  async #hearEcho() {
    const late = new AbortController()
    const echo = new Promise((resolve) => {
      this.#onEcho = () => resolve(true)
    })
    const other = new this.#Client(this.#config)
    other.on('error', () => {}) // its commands fail, too
    try {
      await other.connect()
      await other.query('SELECT pg_notify($1, $2)', [channelOf(this.#heard), 'echo'])
      const isHeard = await Promise.race([echo, after(echoTime, false, { signal: late.signal })])
      if (!isHeard) throw poolerError()
    } finally {
      late.abort()
      other.end()
      this.#onEcho = undefined
    }
  }

  #pass({ channel, payload }) {
    if (payload === 'echo') this.#onEcho?.()
    if (channel !== channelOf(this.#session)) return
    const what = payload.slice(1)
    if (payload[0] === 'g') this.#hear.granted(what.split(' '))
    else if (payload[0] === 'w') this.#hear.wanted(what)
  }

  /** A connection that nothing comes through looks like one on which nothing happens: it is asked. */
  #beat(client) {
    this.#pulse = setTimeout(async () => {
      try {
        await this.#command('SELECT 1')
        if (this.#client === client) this.#beat(client)
      } catch (error) {
        // Whatever it was, this connection is of no use.
        this.#cut(client, error)
      }
    }, this.#patience)
    this.#pulse.unref()
  }

  #cut(client, error) {
    // While it is being opened, its caller hears of that.
    if (this.#client !== client || this.backend === null) return
    clearTimeout(this.#pulse)
    this.#client = undefined
    this.backend = null
    client.end()
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

  async close() {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#pulse)
    const client = this.#client
    this.#client = undefined
    this.backend = null
    await client?.end()
  }
}

module.exports = { Listener }
