'use strict'
// The engine's own connections, configured like the connections of the user's pool. The user's connections would not do:
// a program that holds all of them while it waits for a lock would wait for ever.

const { clearTimeout, setTimeout } = require('../../core/builtins.js')
const { outside } = require('../outside.js')
const { noAnswer, startPatience } = require('../patience.js')
const { asText } = require('./text.js')

/** Options that a pool takes and a connection does not, or that the engine sets. */
const notTheirs = new Set([
  'binary',
  'Client',
  'lock_timeout',
  'log',
  'max',
  'maxLifetimeSeconds',
  'maxUses',
  'min',
  'onConnect',
  'Promise',
  // A blocked event loop has not read an answer that has arrived.
  'query_timeout',
  'statement_timeout',
  'types',
  'verify',
])

/** The configuration of a connection, from a pool's options. */
function configOf(connection) {
  const theirs = Object.entries(connection).filter(([name]) => !notTheirs.has(name))
  const config = Object.fromEntries(theirs)
  // pg makes these two non-enumerable, so that printed options do not show them.
  if (connection.password !== undefined) config.password = connection.password
  if (connection.ssl?.key !== undefined) config.ssl = { ...connection.ssl, key: connection.ssl.key }
  return config
}

/**
 * Settings of every session, in place of the database's defaults: its commands read committed data, and are planned once:
 * PostgreSQL plans each statement anew for its first five runs, at twice the time. The server gives a command up before
 * this process does, after `patience` ms. Otherwise a server process that waits for a locked row would not notice that its
 * connection was cut, and would stay as long as the row is locked.
 */
const setUp = (patience) => `
  SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off;
  SET lock_timeout = ${Math.ceil(patience * 0.8)}; SET statement_timeout = ${Math.ceil(patience * 0.9)};
  SET plan_cache_mode = force_generic_plan`

/**
 * A `Client` that reads text. Its end() waits at most `patience` ms for a server that does not
 * answer.
 */
function patient(Client, patience) {
  return class extends Client {
    constructor(config) {
      super({ ...config, types: asText })
      // `pg.defaults` overrides the configuration.
      this.binary = false
      // A connection may die at any time. The command under way is rejected with the same error, and the pool listens
      // only while the connection is idle.
      this.on('error', () => {})
    }

    end(done) {
      const timer = setTimeout(() => this.connection.stream.destroy(), patience)
      timer.unref()
      this.once('end', () => clearTimeout(timer))
      return super.end(done)
    }
  }
}

/**
 * A `Client` that sets its session up first, with callbacks, as pg's Pool uses it. The next answer of the server may take
 * `patience` ms.
 */
function settled(Client, patience) {
  return class extends Client {
    #underWay = 0
    /** Ends the patience for the next answer, while there is one to come. */
    #endPatience

    connect(done) {
      const endPatience = this.#startPatience()
      const isConnected = (error) => {
        endPatience()
        if (error) done(error)
        else this.query(setUp(patience), (failure) => this.#isSetUp(failure, done))
      }
      // A pool connects for any caller.
      outside(() => super.connect(isConnected))
    }

    /** The pool forgets a client that could not connect, and does not end it. */
    #isSetUp(failure, done) {
      if (failure) this.connection.stream.destroy()
      done(failure)
    }

    #startPatience() {
      return startPatience(patience, () => {
        this.connection.stream.destroy(noAnswer(patience))
      })
    }

    query(...args) {
      const done = args.pop()
      if (this.#underWay++ === 0) this.#endPatience = this.#startPatience()
      return super.query(...args, (...result) => {
        this.#endPatience()
        // It would keep the async context of its caller.
        this.#endPatience = undefined
        if (--this.#underWay > 0) this.#endPatience = this.#startPatience()
        done(...result)
      })
    }
  }
}

/**
 * A pool that keeps no process alive, and whose steps take at most `patience` ms. `more` are options of a pool that
 * replace the user's.
 */
function makePool(Pool, Client, config, max, patience, more) {
  const pool = new Pool({
    ...config,
    ...more,
    Client: settled(patient(Client, patience), patience),
    max,
    // For lines.js. An older pg ignores it.
    pipeline: true,
    allowExitOnIdle: true,
    // It would fire before an answer that has arrived is read, and limit the pool's queue, too.
    connectionTimeoutMillis: 0,
  })
  // An idle connection was cut: the pool has dropped it, and makes another one for the next
  // command.
  pool.on('error', () => {})
  return pool
}

module.exports = { configOf, makePool, patient }
