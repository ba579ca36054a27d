'use strict'
// Drivers for a Redis server: by valkey-glide.
const { redisDriver } = require('../../../lib/cluster/redis/driver.js')
const { glideClient } = require('./glide.js')
const { addressOf } = require('./servers.js')

async function connect(place) {
  const { host, port } = addressOf(place)
  const client = await glideClient(port, { host })
  return { client, driver: () => redisDriver(client), close: async () => client.close() }
}

module.exports = { connect }
