'use strict'
// boxoffice/postgres: locks over PostgreSQL, with the package `pg`.
const { Engine } = require('../engine.js')
const { makeDriver } = require('./driver.js')
const { postgresSchema } = require('./schema.js')

function postgres(pool, options = {}) {
  return new Engine(makeDriver(pool, options), options)
}

module.exports = { postgres, postgresSchema }
