'use strict'
const { createClient } = require('redis')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { contract } = require('./helpers/contract.js')
const { redisServer } = require('./helpers/servers.js')

describe('The contract of engines, with Redis and redis', () => {
  contract(async () => {
    const server = await redisServer()
    const client = createClient({ url: `redis://127.0.0.1:${server.port}` })
    await client.connect()
    return {
      driver: () => redisDriver(client),
      async stop() {
        client.destroy()
        await server.close()
      },
    }
  })
})
