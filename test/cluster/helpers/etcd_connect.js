'use strict'
// Drivers for one or several etcd servers.
const { Etcd3 } = require('etcd3')
const { etcdDriver } = require('../../../lib/cluster/etcd/driver.js')
const { addressOf } = require('./servers.js')

async function connect(places) {
  const all = [places].flat().map(addressOf)
  const client = new Etcd3({ hosts: all.map(({ host, port }) => `http://${host}:${port}`) })
  return { client, driver: () => etcdDriver(client), close: async () => client.close() }
}

module.exports = { connect }
