'use strict'
// Drivers for the Redis server at a port of loopback: by node-redis.
const { createClient } = require('redis')
const { redisDriver } = require('../../../lib/cluster/redis/driver.js')

async function connect(port) {
  const reconnectStrategy = () => 50
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy } })
  client.on('error', () => {}) // it connects again: that the server is away is what tests are about
  await client.connect()
  return { client, driver: () => redisDriver(client), close: async () => client.destroy() }
}

module.exports = { connect }
