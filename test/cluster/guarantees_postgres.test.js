'use strict'
const { alone } = require('./helpers/guarantees_alone.js')
const { postgresWith } = require('./helpers/postgres_server.js')

describe('Guarantees of PostgreSQL', function () {
  this.timeout(60_000)
  this.slow(10_000)
  alone('PostgreSQL', require.resolve('./helpers/postgres_connect.js'), {
    start: ({ env }) => postgresWith({ how: { env } }),
    end: (server) => server.stop('fast'),
    empty: (server) => server.empty(),
  })
})
