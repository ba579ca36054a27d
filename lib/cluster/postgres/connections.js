'use strict'
// Makes the engine's own connections, with the options of the user's pool. The connections of that pool would not do: a
// program that holds all of them while it waits for a lock would deadlock.

const { clearTimeout, setTimeout } = require('../../core/builtins.js')
const { outside } = require('../outside.js')
const { noAnswer, startPatience } = require('../patience.js')
const { asText } = require('./text.js')

/** Options that are only for a pool, or that the engine sets. */
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
  // This timeout ignores an answer that has arrived while the event loop was blocked.
  'query_timeout',
  'statement_timeout',
  'types',
  'verify',
])

/** Returns the configuration of a connection, made of a pool's options. */
function configOf(connection) {
  const theirs = Object.entries(connection).filter(([name]) => !notTheirs.has(name))
  const config = Object.fromEntries(theirs)
  // Copy these two by name: pg makes them non-enumerable, so that printed options do not show them.
  if (connection.password !== undefined) config.password = connection.password
  if (connection.ssl?.key !== undefined) config.ssl = { ...connection.ssl, key: connection.ssl.key }
  return config
}

/**
 * The settings of every connection. A generic plan is made once, while by default PostgreSQL plans the first five runs
 * of each statement, which then take twice the time. The timeouts make the server give a command up before this process
 * does, after `patience` ms. Without them a server process that waits for a locked row would not notice that its
 * connection was cut, and would stay until the row is unlocked.
 */
const setUp = (patience) => `
  SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off;
  SET lock_timeout = ${Math.ceil(patience * 0.8)}; SET statement_timeout = ${Math.ceil(patience * 0.9)};
  SET plan_cache_mode = force_generic_plan`

/**
 * Returns a subclass of `Client` that receives all values as text, and whose end() waits at most `patience` ms for the
 * server.
 */
function patient(Client, patience) {
  return class extends Client {
    constructor(config) {
      super({ ...config, types: asText })
      // `pg.defaults` overrides the configuration.
      this.binary = false
      // A connection may die at any time, and the pool listens only while it is idle. Ignore the error: the pending
      // command rejects with it, too.
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
 * Returns a subclass of `Client` that applies setUp() when it connects, and that destroys the connection if an answer
 * takes `patience` ms. It has only the methods with callbacks, which pg's Pool uses.
 */
function settled(Client, patience) {
  return class extends Client {
    #underWay = 0
    /** While an answer is awaited: stops the timer for it. */
    #endPatience

    connect(done) {
      const endPatience = this.#startPatience()
      const isConnected = (error) => {
        endPatience()
        if (error) done(error)
        else this.query(setUp(patience), isSetUp)
      }
      const isSetUp = (error) => {
        // The pool would only forget it.
        if (error) this.connection.stream.destroy()
        done(error)
      }
      // Do not keep the async context of the caller that needs the connection first.
      outside(() => super.connect(isConnected))
    }

    #startPatience() {
      return startPatience(patience, () => this.connection.stream.destroy(noAnswer(patience)))
    }

    query(...args) {
      const done = args.pop()
      if (this.#underWay++ === 0) this.#endPatience = this.#startPatience()
      return super.query(...args, (...result) => {
        this.#endPatience()
        // Drop the function, which would keep the async context of its caller.
        this.#endPatience = undefined
        if (--this.#underWay > 0) this.#endPatience = this.#startPatience()
        done(...result)
      })
    }
  }
}

/**
 * Makes a pool that does not keep the process alive, and whose connections wait at most `patience` ms for each answer.
 * The options `more` replace the user's.
 */
function makePool(Pool, Client, config, max, patience, more) {
  const pool = new Pool({
    ...config,
    ...more,
    Client: settled(patient(Client, patience), patience),
    max,
    // For lines.js. An older pg ignores this option.
    pipeline: true,
    allowExitOnIdle: true,
    // No timeout: it would ignore an answer that has arrived unread, and would also limit the wait in the pool's queue.
    connectionTimeoutMillis: 0,
  })
  // Ignore that an idle connection was cut: the pool makes another one for the next command.
  pool.on('error', () => {})
  return pool
}

module.exports = { configOf, makePool, patient }
