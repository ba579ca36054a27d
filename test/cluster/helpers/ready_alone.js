'use strict'
// A program that opens the session of an engine, by a thread of its own.
const { Engine } = require('../../../lib/cluster/engine.js')
const { FakeServer } = require('./fake_server.js')

async function main() {
  const server = new FakeServer()
  const engine = new Engine(server.driver())
  await engine.ready()
  console.log('ready')
  await engine.close()
  server.close()
}

main()
