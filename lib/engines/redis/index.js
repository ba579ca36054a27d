'use strict'
const { Engine } = require('../engine.js')
const { redisDriver } = require('./driver.js')

function redis(client, options = {}) {
  return new Engine(redisDriver(client, options), options)
}

module.exports = { redis }
