'use strict'
// boxoffice/postgres: locks over PostgreSQL, with the driver `pg`.
const { Engine, hubOf, timesOf } = require('../engine.js')
const { makeDriver } = require('./driver.js')
const { postgresSchema } = require('./schema.js')
const { TransactionLocks } = require('./transaction.js')

class PostgresEngine extends Engine {
  withTransaction(client) {
    return new TransactionLocks(client, hubOf(this).settings.answerTimeout)
  }
}

function postgres(pool, options = {}) {
  return new PostgresEngine(makeDriver(pool, options), timesOf(options))
}

module.exports = { postgres, postgresSchema }
