'use strict'
const { faults } = require('./engines/faults.js')
const { redisServer } = require('./engines/servers.js')

describe('Faults, with Redis', function () {
  this.timeout(30_000)
  this.slow(10_000)
  faults(redisServer, require.resolve('./engines/redis_connect.js'))
})
