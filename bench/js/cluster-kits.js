// The locks under test that processes share by a server. A kit is
//   server        which: see cluster-servers.js
//   open(port)    in each process: a promise for { enter, leave }, by a key. enter is a promise for what leave needs
const { loadOurs } = require('./kits.js')

const longest = 60_000

const clusterKits = {
  'ours, redis': {
    server: 'redis',
    async open(port) {
      const { createClient } = require('redis')
      const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
      return ours(client)
    },
  },

  'ours, ioredis': { server: 'redis', open: async (port) => ours(ioredis(port)) },

  'redis-semaphore': {
    server: 'redis',
    async open(port) {
      const { Mutex } = require('redis-semaphore')
      const client = ioredis(port)
      return {
        // One per caller: of two callers with the same object, the second would share the hold of
        // the first.
        async enter(key) {
          const mutex = new Mutex(client, key, { acquireTimeout: longest, lockTimeout: 10_000 })
          await mutex.acquire()
          return mutex
        },
        leave: (mutex) => mutex.release(),
      }
    },
  },

  redlock: { server: 'redis', open: async (port) => redlock(require('redlock').default, port) },

  '@sesamecare-oss/redlock': {
    server: 'redis',
    open: async (port) => redlock(require('@sesamecare-oss/redlock').Redlock, port),
  },

  'ours, PostgreSQL': {
    server: 'postgres',
    async open(port) {
      const { postgres } = require('../../lib/cluster/postgres/index.js')
      return locksOf(postgres(pgPool(port)))
    },
  },

  // One connection per waiter or holder, with a session's lock, as is usual.
  pg_advisory_lock: {
    server: 'postgres',
    async open(port) {
      const pool = pgPool(port)
      const ask = (client, what, key) => client.query(`SELECT ${what}(hashtext($1))`, [key])
      return {
        async enter(key) {
          const client = await pool.connect()
          await ask(client, 'pg_advisory_lock', key)
          return { client, key }
        },
        async leave({ client, key }) {
          await ask(client, 'pg_advisory_unlock', key)
          client.release()
        },
      }
    },
  },
}

function ours(client) {
  const { redis } = require('../../lib/cluster/redis/index.js')
  return locksOf(redis(client))
}

function locksOf(engine) {
  const { KeyedMutex } = loadOurs()
  const mutex = new KeyedMutex({ engine })
  return { enter: (key) => mutex.acquire(key), leave: (release) => release() }
}

/** With its usual delay between two attempts, and as many attempts as necessary. */
function redlock(Redlock, port) {
  const locks = new Redlock([ioredis(port)], { retryCount: -1 })
  return { enter: (key) => locks.acquire([key], 10_000), leave: (lock) => lock.release() }
}

function ioredis(port) {
  const { Redis } = require('ioredis')
  return new Redis(port, '127.0.0.1')
}

/** PostgreSQL accepts 100 connections by default. */
function pgPool(port) {
  const { Pool } = require('pg')
  return new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 50 })
}

module.exports = { clusterKits }
