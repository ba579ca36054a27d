'use strict'
const { faults } = require('./engines/faults.js')
const { postgresServer } = require('./engines/postgres_server.js')

describe('Faults, with PostgreSQL', function () {
  this.timeout(30_000)
  this.slow(10_000)
  faults(postgresServer, require.resolve('./engines/postgres_connect.js'))
})
