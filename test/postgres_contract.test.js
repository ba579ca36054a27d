'use strict'
const { contract } = require('./engines/contract.js')
const { connect } = require('./engines/postgres_connect.js')
const { postgresServer } = require('./engines/postgres_server.js')

describe('The contract of engines, by PostgreSQL', () => {
  contract(async () => {
    const server = await postgresServer()
    const { driver, close } = await connect(server.port)
    return {
      driver,
      async stop() {
        await close()
        await server.close()
      },
    }
  })
})
