'use strict'
const { Engine, timesOf } = require('../engine.js')
const { redisDriver } = require('./driver.js')

function redis(client, options = {}) {
  return new Engine(redisDriver(client, options), timesOf(options))
}

module.exports = { redis }
