'use strict'
// Renews an engine's sessions and confirms its claims (EngineKeeper of ../engine.d.ts), in a thread and by connections of its own.
const { confirmBy } = require('./calls.js')
const { makePool } = require('./connections.js')
const { explained } = require('./rights.js')
const { isTrue } = require('./text.js')

async function connect({ path, config, names }) {
  let pool
  let confirming

  /** The result of the database function `name`, as text. */
  async function call(name, session, ttl) {
    // A second connection, in case the first one hangs. Both stay, because a full server would accept no other one,
    // and the session would end.
    pool ??= make(2, Math.ceil(ttl / 3), { idleTimeoutMillis: 0 })
    const { answer } = await query(pool, `SELECT ${name}($1, $2) AS answer`, [session, ttl])
    return answer
  }

  function make(...how) {
    const { Client, Pool } = require(path)
    return makePool(Pool, Client, config, ...how)
  }

  /** By another connection, because a row or a table that is locked must delay no renewal. */
  function confirm(request) {
    confirming ??= make(1, request.claim)
    return confirmBy((call) => query(confirming, call), names, request)
  }

  /** The first row of the answer. */
  async function query(from, ...command) {
    try {
      const { rows } = await from.query(...command)
      return rows[0]
    } catch (error) {
      throw explained(error, names)
    }
  }

  return {
    open: (session, ttl) => call(names.open, session, ttl),
    renew: async (session, ttl) => isTrue(await call(names.renew, session, ttl)),
    confirm,
    close: () => Promise.all([pool?.end(), confirming?.end()]),
  }
}

module.exports = { connect }
