'use strict'
const { Engine, timesOf } = require('../engine.js')
const { etcdDriver } = require('./driver.js')

function etcd(client, options = {}) {
  return new Engine(etcdDriver(client, options), timesOf(options))
}

module.exports = { etcd }
