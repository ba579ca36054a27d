'use strict'
// Drivers for a PostgreSQL server.
const { Pool } = require('pg')
const { makeDriver } = require('../../../lib/cluster/postgres/driver.js')
const { addressOf } = require('./servers.js')

/** `options` as those of postgres(). */
async function connect(place, options = {}) {
  const pool = new Pool({ ...addressOf(place), user: 'postgres', database: 'postgres' })
  pool.on('error', () => {}) // it reconnects: the tests stop the server
  return { pool, driver: () => makeDriver(pool, options), close: () => pool.end() }
}

module.exports = { connect }
