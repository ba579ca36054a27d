'use strict'
// Drivers for a Redis server: by node-redis.
const { createClient } = require('redis')
const { redisDriver } = require('../../../lib/cluster/redis/driver.js')
const { addressOf } = require('./servers.js')

async function connect(place) {
  const reconnectStrategy = () => 50
  const client = createClient({ socket: { ...addressOf(place), reconnectStrategy } })
  client.on('error', () => {}) // it reconnects: the tests stop the server
  await client.connect()
  return { client, driver: () => redisDriver(client), close: async () => client.destroy() }
}

module.exports = { connect }
