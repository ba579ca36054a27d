'use strict'
const { contract } = require('./helpers/contract.js')
const { connect } = require('./helpers/etcd_connect.js')
const { etcdServer } = require('./helpers/etcd_server.js')

describe('The contract of engines, by etcd', () => {
  contract(async () => {
    const server = await etcdServer()
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
