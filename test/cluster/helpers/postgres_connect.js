'use strict'
// Drivers for the PostgreSQL server at a port of loopback.
const { Pool } = require('pg')
const { makeDriver } = require('../../../lib/cluster/postgres/driver.js')

/** `options` as those of postgres(). */
async function connect(port, options = {}) {
  const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  pool.on('error', () => {}) // it connects again: that the server is away is what tests are about
  return { pool, driver: () => makeDriver(pool, options), close: () => pool.end() }
}

module.exports = { connect }
