'use strict'
// The scopes, for tests of what all of them have in common. Each is a function for describe(), which returns a function:
// it resolves to the options of a new lock of that scope.
const { fakeWorld } = require('../cluster/helpers/fake_world.js')
const { freshName } = require('./agents.js')
const { useHosts } = require('./hosts.js')

const scopes = {
  thread: () => async () => ({}),
  process: () => async () => ({ name: freshName() }),
  host() {
    const hosts = useHosts()
    return async () => ({ scope: 'host', name: freshName(), directory: hosts.directory })
  },
  engine() {
    const { newEngine } = fakeWorld()
    return async () => ({ engine: await newEngine(), name: freshName() })
  },
}

module.exports = { scopes }
