'use strict'
// PostgreSQL as an engine. ../engine.js describes drivers; schema.js describes the database. Each
// command is one call of a function there.
const { join } = require('node:path')
const { checkObject } = require('../../core/options.js')
const { checkType, kindError, lockError } = require('../../core/errors.js')
const { readEngineOptions, timesOf } = require('../engine.js')
const { versionError } = require('../errors.js')
const { findPackage } = require('../find.js')
const { checkForThread } = require('../for_thread.js')
const { Subscription } = require('../subscription.js')
const { callOf, confirmBy, firstRow, isDigest, rowOf } = require('./calls.js')
const { Commands, ranks } = require('../commands.js')
const { configOf, makePool } = require('./connections.js')
const { Lines } = require('./lines.js')
const { listeningWith } = require('./listening.js')
const { channelOf, readNames } = require('./names.js')
const { protocol, schemaOf } = require('./schema.js')
const { isTrue } = require('./text.js')

/** A program that has ended its pool must acquire no more locks, although the engine has connections of its own. */
const endedError = () =>
  lockError(
    'ERR_LOCK_ENGINE',
    'the pool of postgres(pool) has been ended: make an engine of another pool, and end that after its last lock',
  )

/** Why no request is granted while the row '' of the sessions table has not expired: see schema.js. */
const afterCrash =
  'PostgreSQL has lost its locks in a crash or a failover, and grants none until the longest ttl so far is over'

class Driver {
  name = 'PostgreSQL'
  keepsMinHold = true
  #names
  #pool
  #commands
  /** The EngineListener. */
  #listener = {}
  #subscription
  /** Returns whether the engine refuses new requests, because the pool has ended. */
  #isEnded
  /** By id: the requests that the server may know. */
  #requests = new Map()
  /** The ids of requests that a message has granted. They are urgent, because their claims end soon. */
  #granted = new Set()
  /** The commands of each key. */
  #lines

  /** `options` are those of postgres(). */
  constructor(pool, options) {
    if (typeof pool?.query !== 'function' || typeof pool.Client !== 'function') {
      throw kindError('pool must be a Pool of the package pg', pool)
    }
    checkObject(options)
    const { connection = pool.options, connections = 4 } = options
    checkObject(connection)
    checkType('connections', connections, 'number')
    if (!(Number.isInteger(connections) && connections >= 1)) {
      throw new RangeError(`connections must be an integer of 1 or more, not ${connections}`)
    }
    const names = readNames(options)
    const { answerTimeout } = readEngineOptions(timesOf(options))
    const config = configOf(connection)
    checkForThread(config, 'postgres(pool, { connection })')
    const { constructor: Pool, Client } = pool
    this.#names = names
    this.#isEnded = () => options.connection === undefined && pool.ending === true
    this.#pool = makePool(Pool, Client, config, connections, answerTimeout)
    const moved = () => this.#listener.moved?.()
    this.#commands = new Commands(connections, answerTimeout, moved)
    this.#lines = new Lines(this.#pool, this.#commands, answerTimeout, moved)
    const make = listeningWith(Client, config, answerTimeout)
    this.#subscription = new Subscription(make, answerTimeout)
    const data = { path: findPackage('pg', Object.create(Client.prototype)), config, names }
    this.keeper = { module: join(__dirname, 'keeper.js'), data }
  }

  async listen(session, listener) {
    if (this.#isEnded()) throw endedError()
    this.#listener = listener
    this.#requests.clear()
    this.#granted.clear()
    // Subscribe first: that checks that each connection has a server session of its own, whose settings the other
    // connections may then change.
    await this.#subscription.to([channelOf(session)], {
      ...listener,
      granted: (id, grant) => {
        // Use the message's grant only if an idle connection can send the confirmation at once.
        if (this.#pool.idleCount > 0 && this.#commands.isFree()) return listener.granted(id, grant)
        const request = this.#requests.get(id)
        if (request !== undefined) {
          this.#granted.add(id)
          this.#lines.hurry(request.key, ranks.grant)
        }
        listener.granted(id)
      },
      wanted: (row) => {
        for (const key of this.#keysOf(row)) listener.wanted(key)
      },
    })
    await this.#prepare()
  }

  async open(session, ttl) {
    await this.#query(callOf(this.#names.open, [session, ttl]))
  }

  /** Creates the tables and functions in one transaction, unless this version has already made them. */
  async #prepare() {
    if (await this.#isPrepared()) return
    await this.#query(schemaOf(this.#names))
    // Check the protocol again: another version may have created the tables meanwhile.
    await this.#isPrepared()
  }

  async #isPrepared() {
    const { enter, leave, leases, sessions, longest, request } = this.#names
    const text = `SELECT
      to_regproc($1) IS NOT NULL AND to_regproc($2) IS NOT NULL AND to_regclass($3) IS NOT NULL AS is_there,
      substring(obj_description(to_regclass($3), 'pg_class') FROM '^boxoffice protocol (.*)$') AS theirs`
    const answer = await this.#query({ text, values: [enter, leave, leases] })
    const { is_there: isThere, theirs } = answer
    if (theirs !== null && Number(theirs) !== protocol) {
      const tables = `${leases}, ${sessions}, ${longest}`
      const cure = `run "DROP TABLE ${tables} CASCADE; DROP TYPE IF EXISTS ${request} CASCADE"`
      throw versionError(`the table ${leases} of PostgreSQL`, theirs, protocol, cure)
    }
    return isTrue(isThere)
  }

  #query(command, how) {
    const answering = this.#commands.run(() => this.#pool.query(command), how)
    return firstRow(answering, this.#names)
  }

  /** Resolves to the result of the database function `name` for `key`. */
  #call(name, key, values, rank) {
    return firstRow(this.#lines.send(key, callOf(name, [rowOf(key), ...values]), rank), this.#names)
  }

  #forget(id) {
    this.#requests.delete(id)
    this.#granted.delete(id)
  }

  /** Returns the keys that may have this row. The row may be a digest: then looks for waiting keys with that digest. */
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
    const backend = this.#subscription.connection?.backend ?? null
    const asked = [id, session, units, capacity, wait, first, claim, maxHold, minHold, backend]
    const rank = this.#granted.delete(id) ? ranks.grant : ranks.request
    const answer = await this.#call(this.#names.enter, key, asked, rank)
    const { state, token, wanted, abandoned, look, clock } = answer
    const why = answer.resting !== null && isTrue(answer.resting) ? { reason: afterCrash } : {}
    if (state === 'held') {
      return { state, token: BigInt(token), wanted: isTrue(wanted), abandoned: isTrue(abandoned) }
    }
    if (state === 'waiting') {
      // If the server knows of no end to wait for, ask again after the time of a claim.
      const time = look === null ? claim : Math.max(0, Number(look)) + 1
      return { state, look: time, clock: Number(clock), ...why }
    }
    this.#forget(id)
    return state === 'mismatch' ? { state, capacity: Number(answer.capacity) } : { state, ...why }
  }

  confirm(request) {
    // Do not wait for other commands, of this key or others: the claim ends soon.
    return confirmBy((call) => this.#query(call, { rank: ranks.grant }), this.#names, request)
  }

  async leave({ key, id, claim, keep, untold, minHold, unused }) {
    const words = [claim, keep, untold, minHold, unused]
    await this.#call(this.#names.leave, key, [id, ...words], ranks.release)
    if (keep === 0) this.#forget(id)
  }

  forget({ id }) {
    this.#forget(id)
  }

  async end(session) {
    const text = `DELETE FROM ${this.#names.sessions} WHERE session = $1`
    await this.#query({ text, values: [session] })
  }

  async close() {
    await this.#subscription.close()
    await this.#pool.end()
  }
}

module.exports = { makeDriver: (pool, options) => new Driver(pool, options) }
