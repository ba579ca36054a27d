'use strict'
// A server in memory for each test of the describe() that calls this, with a clock that only tests advance.
const assert = require('node:assert/strict')
const { KeyedMutex } = require('../../..')
const { Engine } = require('../../../lib/cluster/engine.js')
const { FakeServer } = require('./fake_server.js')
const { LocalThread } = require('./local_thread.js')
const { VirtualClock } = require('./virtual_clock.js')

/** { server, clock, outside }: a server that follows a virtual clock, and the `outside` of hubs (hub.js) over it. */
function virtualServer() {
  const clock = new VirtualClock()
  const server = new FakeServer()
  const start = Date.now() - clock.now()
  server.clock = () => start + Math.floor(clock.now())
  const startThread = (_, ttl, claims) =>
    new LocalThread(async () => server.keeper(), { ttl, clock, claims })
  return { server, clock, outside: { clock, startThread } }
}

function fakeWorld() {
  const world = { ...{ server: undefined, clock: undefined, outside: undefined }, ...doings() }
  beforeEach(() => {
    Object.assign(world, virtualServer(), { engines: [] })
  })
  afterEach(async () => {
    world.server.trouble = undefined
    world.server.slowAnswer = undefined
    for (const engine of world.engines) await world.clock.until(engine.close())
    world.server.close()
  })
  return world

  function doings() {
    return { newEngine, engineOver, count, queued }
  }

  /** A new engine, whose driver has the methods that `change(driver)` returns in place of its own. */
  function engineOver(options, change = () => ({})) {
    const driver = world.server.driver()
    const engine = new Engine({ ...driver, ...change(driver) }, options, world.outside)
    world.engines.push(engine)
    return engine
  }

  /** The same, with a session. */
  async function newEngine(options, change) {
    const engine = engineOver(options, change)
    await new KeyedMutex({ engine }).runExclusive('before', () => {})
    // The server has been told of the end of that hold as well.
    await world.clock.settle()
    world.server.commands = []
    return engine
  }

  /** How many commands of that name the server has had since. */
  function count(name) {
    return world.server.commands.filter((one) => one === name).length
  }

  /** Resolves when the server has queued so many requests, for all keys, and has told their holders. */
  async function queued(number = 1) {
    await world.clock.settle()
    assert.equal(world.server.waiting(), number)
  }
}

/** The same with real time, for engines whose renewing thread is a real one. `engines` are closed after the test. */
function realWorld() {
  const world = { server: undefined, engines: [] }
  beforeEach(() => {
    world.server = new FakeServer()
    world.engines = []
  })
  afterEach(async () => {
    for (const engine of world.engines) await engine.close()
    world.server.close()
  })
  return world
}

/** The same as fakeWorld(), where the timeouts of callers follow the clock, too. */
function timedWorld() {
  const world = fakeWorld()
  beforeEach(() => world.clock.replaceTimers())
  afterEach(() => world.clock.restore())
  return world
}

module.exports = { fakeWorld, realWorld, timedWorld, virtualServer }
