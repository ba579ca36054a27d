'use strict'
const { faults } = require('./helpers/faults.js')
const { redisServer } = require('./helpers/servers.js')

describe('Faults, with Redis', function () {
  this.timeout(30_000)
  this.slow(10_000)
  faults(redisServer, require.resolve('./helpers/redis_connect.js'))
})

describe('Faults, with Redis and valkey-glide', function () {
  this.timeout(30_000)
  this.slow(10_000)
  faults(redisServer, require.resolve('./helpers/glide_connect.js'))
})
