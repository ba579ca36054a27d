'use strict'
const { contract } = require('./helpers/contract.js')
const { virtualServer } = require('./helpers/fake_world.js')

describe('The contract of engines, with a server in memory', () => {
  contract(async () => {
    const { server, clock, outside } = virtualServer()
    return {
      driver: () => server.driver(),
      stop: () => server.close(),
      time: clock,
      outside,
    }
  })
})
