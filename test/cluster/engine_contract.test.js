'use strict'
const { contract } = require('./helpers/contract.js')
const { FakeServer } = require('./helpers/fake_server.js')

describe('The contract of engines, with a server in memory', () => {
  contract(async () => {
    const server = new FakeServer()
    return { driver: () => server.driver(), stop: () => server.close() }
  })
})
