'use strict'
// PostgreSQL as an engine: what a driver is, is at the top of ../engine.js, and what happens in the database is in
// schema.js. Each command is one call of a function there.
const { join } = require('node:path')
const { serialize } = require('node:v8')
const { checkObject } = require('../../core/options.js')
const { lockError } = require('../../core/errors.js')
const { readEngineOptions, timesOf } = require('../engine.js')
const { findPackage } = require('../find.js')
const { Subscription } = require('../subscription.js')
const { configOf, makePool } = require('./connections.js')
const { listeningWith } = require('./listening.js')
const { channelOf, isDigest, readNames, rowOf } = require('./names.js')
const { explained } = require('./rights.js')
const { schemaOf } = require('./schema.js')
const { isTrue } = require('./text.js')

/** The engine has connections of its own; but a program that has ended its pool is not to take any more locks. */
const endedError = () =>
  lockError(
    'ERR_LOCK_ENGINE',
    'the pool of postgres(pool) has been ended: make an engine of another pool, and end that after its last lock',
  )

class Driver {
  name = 'PostgreSQL'
  keepsMinHold = true
  #names
  #pool
  #subscription
  /** Whether nothing new is to be asked for. */
  #isEnded
  /** The requests that the server may know, by id. */
  #requests = new Map()
  /** The last command to leave that is on its way, by key. */
  #leaving = new Map()

  /** With the options of postgres(). */
  constructor(pool, options) {
    if (typeof pool?.query !== 'function' || typeof pool.Client !== 'function') {
      throw new TypeError('pool must be a Pool of the package pg')
    }
    checkObject(options)
    const { connection = pool.options, connections = 4 } = options
    checkObject(connection)
    if (typeof connections !== 'number') throw new TypeError('connections must be a number')
    if (!(Number.isInteger(connections) && connections >= 1)) {
      throw new RangeError(`connections must be an integer of 1 or more, not ${connections}`)
    }
    const names = readNames(options)
    const { answerTimeout } = readEngineOptions(timesOf(options))
    const config = configOf(connection)
    checkForThread(config)
    const { constructor: Pool, Client } = pool
    this.#names = names
    this.#isEnded = () => options.connection === undefined && pool.ending === true
    this.#pool = makePool(Pool, Client, config, connections, answerTimeout)
    const make = listeningWith(Client, config, answerTimeout)
    this.#subscription = new Subscription(make, answerTimeout)
    const data = { path: findPackage('pg'), config, names }
    this.keeper = { module: join(__dirname, 'keeper.js'), data }
  }

  async listen(session, { granted, wanted, missed, trouble }) {
    if (this.#isEnded()) throw endedError()
    for (const [id, request] of this.#requests) {
      if (request.session !== session) this.#requests.delete(id)
    }
    // First: all others set up their sessions, which must be theirs.
    await this.#subscription.to([channelOf(session)], {
      // Only what has a connection is sent at once.
      granted: (id, grant) =>
        granted(id, this.#pool.idleCount > this.#pool.waitingCount ? grant : undefined),
      wanted: (row) => {
        for (const key of this.#keysOf(row)) wanted(key)
      },
      missed,
      trouble,
    })
    await this.#prepare()
  }

  /** All of it is made in one transaction, so that the last of it stands for all. */
  async #prepare() {
    const { leave } = this.#names
    const text = 'SELECT to_regproc($1) IS NOT NULL AS is_there'
    const { is_there: isThere } = await this.#query({ text, values: [leave] })
    if (!isTrue(isThere)) await this.#query(schemaOf(this.#names))
  }

  /** A promise for the first row. */
  async #query(command) {
    try {
      const { rows } = await this.#pool.query(command)
      return rows?.[0]
    } catch (error) {
      throw explained(error, this.#names)
    }
  }

  /** What the function `name` of the database returns. */
  #call(name, ...values) {
    const places = values.map((_, i) => `$${i + 1}`)
    return this.#query({ name, text: `SELECT * FROM ${name}(${places})`, values })
  }

  /** What a row is called here: a digest cannot be read back. */
  #keysOf(row) {
    if (!isDigest(row)) return [row]
    const keys = new Set()
    for (const { key } of this.#requests.values()) if (rowOf(key) === row) keys.add(key)
    return keys
  }

  async enter(request) {
    const { session, key, id, units, capacity, wait, first, claim, maxHold, minHold } = request
    if (this.#isEnded()) throw endedError()
    this.#requests.set(id, request)
    // On another connection we might come before what we have sent.
    await this.#leaving.get(key)
    const backend = this.#subscription.connection?.backend ?? null
    const asked = [id, session, units, capacity, wait, first, claim, maxHold, minHold, backend]
    const answer = await this.#call(this.#names.enter, rowOf(key), ...asked)
    const { state, token, wanted, abandoned, look, clock } = answer
    if (state === 'held') {
      return { state, token: BigInt(token), wanted: isTrue(wanted), abandoned: isTrue(abandoned) }
    }
    if (state === 'waiting') {
      // Without a holder, the request ahead of it has not confirmed yet.
      const time = look === null ? claim : Math.max(0, Number(look)) + 1
      return { state, look: time, clock: Number(clock) }
    }
    this.#requests.delete(id)
    return state === 'mismatch' ? { state, capacity: Number(answer.capacity) } : { state }
  }

  async confirm({ key, id, maxHold }) {
    const answer = await this.#call(this.#names.confirm, rowOf(key), id, maxHold)
    const isHeld = isTrue(answer.is_held)
    return { state: isHeld ? 'held' : 'over', wanted: isHeld && isTrue(answer.wanted) }
  }

  async leave({ key, id, claim, keep, untold, minHold, unused }) {
    const words = [claim, keep, untold, minHold, unused]
    const leaving = this.#call(this.#names.leave, rowOf(key), id, ...words)
    this.#leaving.set(key, leaving)
    try {
      await leaving
      if (keep === 0) this.#requests.delete(id)
    } finally {
      if (this.#leaving.get(key) === leaving) this.#leaving.delete(key)
    }
  }

  async end(session) {
    await this.#pool.query(`DELETE FROM ${this.#names.sessions} WHERE session = $1`, [session])
  }

  async close() {
    await this.#subscription.close()
    await this.#pool.end()
  }
}

/** The thread that renews makes its connection alike. Not by structuredClone, which a vm context may lack. */
function checkForThread(config) {
  try {
    serialize(config)
  } catch (error) {
    throw new TypeError(
      'the options of the connection go to the thread that renews leases, and cannot have functions in them: ' +
        `give postgres(pool, { connection }) some that have none (${error.message})`,
    )
  }
}

module.exports = { makeDriver: (pool, options) => new Driver(pool, options) }
