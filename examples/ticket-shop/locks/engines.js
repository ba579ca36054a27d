'use strict'
const { KeyedMutex } = require('../../..') // in a server of your own: require('boxoffice')
const keyed = require('./keyed.js')

/**
 * A process that dies keeps its locks for so long. 10 s is the default, for servers that are seldom
 * killed. A dedicated thread renews the session, so even this is longer than any event loop is
 * blocked.
 */
const ttl = 1000

const redisUrl = () => process.env.REDIS_URL ?? 'redis://127.0.0.1:6379'

/** One lock per user for all processes of all machines. */
const over = (makeEngine) => () => {
  const options = { name: 'ticket-shop users', diagnostics: 'counters' }
  return keyed(new KeyedMutex({ engine: makeEngine(), ...options }))
}

function redisEngine() {
  const { redis } = require('../../../lib/cluster/redis') // require('boxoffice/redis')
  const { Redis } = require('ioredis')
  return redis(new Redis(redisUrl()), { ttl })
}

function postgresEngine() {
  const { postgres } = require('../../../lib/cluster/postgres') // require('boxoffice/postgres')
  const { Pool } = require('pg')
  return postgres(new Pool({ connectionString: process.env.DATABASE_URL }), { ttl })
}

/** A lease that the event loop itself renews, for comparison in block_loop.js. */
function redlock() {
  const { Redis } = require('ioredis')
  const { default: Redlock } = require('redlock')
  // Some 4 s, not more: it would retry for as long to release a lock that it has lost.
  const locks = new Redlock([new Redis(redisUrl())], { retryCount: 20 })
  return {
    runExclusive: (user, work) => locks.using([`redlock:${user}`], ttl, () => work()),
    held: () => [],
  }
}

/** Throws an error that says how to start the server of `engine`, unless it is up. */
async function checkServer(engine) {
  if (process.env.DATABASE_URL) await checkPostgres()
  else if (engine === 'postgres') {
    throw noServer(`Which PostgreSQL? DATABASE_URL=postgres://... says so. ${startPostgres}`)
  }
  if (engine === 'redis') await checkRedis()
}

const startPostgres = 'To start one: docker run -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres'

/** With either engine it is the database of the shop. */
async function checkPostgres() {
  const { Client } = require('pg')
  const client = new Client({ connectionString: process.env.DATABASE_URL })
  try {
    await client.connect()
    await client.end()
  } catch ({ message }) {
    // Not the URL, which may contain a password.
    const { host, port } = client
    throw noServer(`There is no PostgreSQL at ${host}:${port} (${message}). ${startPostgres}`)
  }
}

async function checkRedis() {
  const { Redis } = require('ioredis')
  const client = new Redis(redisUrl(), { lazyConnect: true, retryStrategy: null })
  let reason
  client.on('error', (error) => {
    reason = error
  })
  try {
    await client.connect()
  } catch (error) {
    throw noServer(
      `There is no Redis at ${redisUrl()} (${(reason ?? error).message}). REDIS_URL says where one is. ` +
        "To start one: redis-server --save ''",
    )
  } finally {
    client.disconnect()
  }
}

const noServer = (message) => Object.assign(new Error(message), { code: 'NO_SERVER' })

module.exports = {
  checkServer,
  engines: {
    redis: { title: 'KeyedMutex over Redis', scope: 'all', create: over(redisEngine) },
    postgres: { title: 'KeyedMutex over PostgreSQL', scope: 'all', create: over(postgresEngine) },
  },
  redlock: { title: 'redlock, extended by the event loop', scope: 'all', create: redlock },
}
