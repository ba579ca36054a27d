'use strict'
// Renews sessions in PostgreSQL and confirms claims, in the thread of a keeper (../keeper_thread.js), which has
// connections of its own. Implements EngineKeeper of ../engine.d.ts.
const { confirmBy, firstRow } = require('./calls.js')
const { makePool } = require('./connections.js')
const { isTrue } = require('./text.js')

async function connect({ path, config, names }) {
  let pool
  let confirming

  /** Resolves to the result of the database function `name`, as text. */
  async function call(name, session, ttl) {
    // The second connection is for when the first one hangs. Keep both open, because a full server might refuse a new
    // one, and the session would end.
    pool ??= make(2, Math.ceil(ttl / 3), { idleTimeoutMillis: 0 })
    const answering = pool.query(`SELECT ${name}($1, $2) AS answer`, [session, ttl])
    const { answer } = await firstRow(answering, names)
    return answer
  }

  function make(...how) {
    const { Client, Pool } = require(path)
    return makePool(Pool, Client, config, ...how)
  }

  /** Confirms a claim by another connection, because a locked row or table must not delay renewals. */
  function confirm(request) {
    confirming ??= make(1, request.claim)
    return confirmBy((call) => firstRow(confirming.query(call), names), names, request)
  }

  return {
    open: (session, ttl) => call(names.open, session, ttl),
    renew: async (session, ttl) => isTrue(await call(names.renew, session, ttl)),
    confirm,
    close: () => Promise.all([pool?.end(), confirming?.end()]),
  }
}

module.exports = { connect }
