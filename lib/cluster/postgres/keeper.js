'use strict'
// Renews an engine's sessions and confirms its claims (EngineKeeper of ../engine.d.ts), in a thread and by connections of its own.
const { confirmBy } = require('./calls.js')
const { makePool } = require('./connections.js')
const { explained } = require('./rights.js')
const { isTrue } = require('./text.js')

async function connect({ path, config, names }) {
  let pool

  /** The result of the database function `name`, as text. */
  async function call(name, session, ttl) {
    if (pool === undefined) {
      const { Client, Pool } = require(path)
      // A second connection, in case the first one hangs. Both stay, because a full server would accept no other one,
      // and the session would end.
      pool = makePool(Pool, Client, config, 2, Math.ceil(ttl / 3), { idleTimeoutMillis: 0 })
    }
    const { answer } = await query(`SELECT ${name}($1, $2) AS answer`, [session, ttl])
    return answer
  }

  /** The first row of the answer. */
  async function query(...command) {
    try {
      const { rows } = await pool.query(...command)
      return rows[0]
    } catch (error) {
      throw explained(error, names)
    }
  }

  return {
    open: (session, ttl) => call(names.open, session, ttl),
    renew: async (session, ttl) => isTrue(await call(names.renew, session, ttl)),
    confirm: (request) => confirmBy(query, names, request),
    close: async () => pool?.end(),
  }
}

module.exports = { connect }
