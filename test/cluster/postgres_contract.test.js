'use strict'
const { contract } = require('./helpers/contract.js')
const { connect } = require('./helpers/postgres_connect.js')
const { postgresServer } = require('./helpers/postgres_server.js')

describe('The contract of engines, with PostgreSQL', () => {
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
