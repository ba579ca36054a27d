'use strict'
// The connections of the engine: its own, made as those of the user's pool are. Not the user's: a program that holds all
// of them while it waits for a lock would wait for ever.

const { clearTimeout, setTimeout } = require('node:timers')
const { noAnswer, startPatience } = require('../patience.js')
const { asText } = require('./text.js')

/** Options that a pool takes and a connection does not, or that the engine sets. */
const notTheirs = new Set([
  'binary',
  'Client',
  'log',
  'max',
  'min',
  'onConnect',
  'Promise',
  'types',
  'verify',
])

/** The configuration of a connection, from the options of a pool. */
function configOf(connection) {
  const theirs = Object.entries(connection).filter(([name]) => !notTheirs.has(name))
  const config = Object.fromEntries(theirs)
  // pg hides these two where the options are printed.
  if (connection.password !== undefined) config.password = connection.password
  if (connection.ssl?.key !== undefined) config.ssl = { ...connection.ssl, key: connection.ssl.key }
  return config
}

/** What every session of ours runs under, whatever the database says for others: it reads what is committed. */
const setUp =
  "SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off"

/** `Client` that reads text, and whose end() waits no longer than `patience` ms for a server that does not answer. */
function patient(Client, patience) {
  return class extends Client {
    constructor(config) {
      super({ ...config, types: asText })
      // `pg.defaults` may say otherwise, whatever the configuration says.
      this.binary = false
    }

    end(done) {
      const timer = setTimeout(() => this.connection.stream.destroy(), patience)
      timer.unref()
      this.once('end', () => clearTimeout(timer))
      return super.end(done)
    }
  }
}

/** `Client` with sessions that are set up, as pg's Pool uses it: with callbacks. Each command has `patience` ms. */
function settled(Client, patience) {
  return class extends Client {
    connect(done) {
      super.connect((error) => (error ? done(error) : this.query(setUp, done)))
    }

    /** Not pg's `query_timeout`, which ends before an answer is read that lies there. */
    query(...args) {
      const done = args.pop()
      const endPatience = startPatience(patience, () => {
        this.connection.stream.destroy(noAnswer(patience))
      })
      return super.query(...args, (...result) => {
        endPatience()
        done(...result)
      })
    }
  }
}

/** A pool of our own: it keeps no process alive, and nothing in it waits for longer than `patience` ms. */
function makePool(Pool, Client, config, max, patience) {
  const pool = new Pool({
    ...config,
    Client: settled(patient(Client, patience), patience),
    max,
    allowExitOnIdle: true,
    connectionTimeoutMillis: patience,
    query_timeout: 0,
  })
  // An idle connection has been cut: the pool has dropped it, and makes another one for the next command.
  pool.on('error', () => {})
  return pool
}

module.exports = { configOf, makePool, patient }
