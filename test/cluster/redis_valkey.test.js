'use strict'
// The same with Valkey, if its server is installed: .ci/full gets one, and sets BOXOFFICE_VALKEY.
const { createClient } = require('redis')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { contract } = require('./helpers/contract.js')
const { valkeyServer } = require('./helpers/servers.js')

const program = process.env.BOXOFFICE_VALKEY
const define = program === undefined ? describe.skip : describe

define('The contract of engines, by Valkey', () => {
  contract(async () => {
    const server = await valkeyServer(program)
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
