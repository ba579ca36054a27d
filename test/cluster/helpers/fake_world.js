'use strict'
// A server in memory for each test of the describe() that calls this.
const { KeyedMutex } = require('../../..')
const { Engine } = require('../../../lib/cluster/engine.js')
const { FakeServer } = require('./fake_server.js')
const { warmUp } = require('./warm_up.js')

function fakeWorld() {
  const world = { server: undefined, engines: [], newEngine, count }
  beforeEach(() => {
    world.server = new FakeServer()
    world.engines = []
  })
  afterEach(async () => {
    world.server.trouble = undefined
    for (const engine of world.engines) await engine.close()
    world.server.close()
  })

  /** A new engine with a session. */
  async function newEngine(options) {
    const engine = new Engine(world.server.driver(), options)
    world.engines.push(engine)
    await warmUp(new KeyedMutex({ engine }))
    world.server.commands = []
    return engine
  }

  /** How many commands of that name the server has had since. */
  function count(name) {
    return world.server.commands.filter((one) => one === name).length
  }

  return world
}

module.exports = { fakeWorld }
