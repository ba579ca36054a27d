// The managers of locks by name under test: all have the standard's `request(name, callback)`.
const { loadOurs } = require('./kits.js')
const { PlainBroker } = require('./plain-broker.js')

const ours = () => loadOurs().locks

const lockKits = {
  ours,
  'ours, Node 24': ours,
  'navigator.locks, Node 24': () => navigator.locks,
  'plain JavaScript, Node 24': () => new PlainBroker(),
}

module.exports = { lockKits }
