// The locks under test that processes share by a server. A kit is
//   server        which: see cluster-servers.js
//   open(port)    in each process: a promise for { enter, leave }, by a key. enter is a promise for what leave needs
//   callers       the fewest and the most callers that it serves, if not any number
//   isFloor       it excludes nobody
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { loadOurs } = require('./kits.js')

const longest = 60_000

/** Of one caller: it waits for one round trip, and releases without one. */
const floor = { isFloor: true, callers: [1, 1] }
/** Of a hand-off: the release has the server send a message, and the waiter waits for that. */
const floorOfHandOff = { isFloor: true, callers: [2, 2] }

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

  // Its release publishes a message, on which all waiters try again.
  'simple-redis-mutex': {
    server: 'redis',
    async open(port) {
      const { lock } = require('simple-redis-mutex')
      const { createClient } = require('redis')
      const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
      return { enter: (key) => lock(client, key), leave: (release) => release() }
    },
  },

  // The same. It subscribes after an attempt in vain, and a release between the two wakes no waiter: of many callers, some
  // wait for the 30 seconds after which a lock expires.
  'node-redisson': {
    server: 'redis',
    callers: [1, 2],
    async open(port) {
      const { Redisson } = require('node-redisson')
      const redisson = new Redisson({ redis: { options: { host: '127.0.0.1', port } } })
      return {
        async enter(key) {
          const lock = redisson.getLock(key)
          await lock.lock()
          return lock
        },
        leave: (lock) => lock.unlock(),
      }
    },
  },

  'redlock-universal': {
    server: 'redis',
    async open(port) {
      const { createLock, IoredisAdapter } = require('redlock-universal')
      const adapter = new IoredisAdapter(ioredis(port))
      return {
        async enter(key) {
          const lock = createLock({ adapter, key, ttl: 10_000, retryAttempts: 1e6 })
          return { lock, handle: await lock.acquire() }
        },
        leave: ({ lock, handle }) => lock.release(handle),
      }
    },
  },

  'a PING': {
    server: 'redis',
    ...floor,
    open: async (port) => floorOf(ioredis(port), (client) => client.ping()),
  },

  'a PUBLISH': {
    server: 'redis',
    ...floorOfHandOff,
    async open(port) {
      const [client, listener] = [ioredis(port), ioredis(port)]
      await listener.subscribe('key')
      return messages({
        isFirst: () => client.setnx('key', ''),
        send: (text) => client.publish('key', text),
        listen: (hear) => listener.on('message', (_channel, text) => hear(text)),
      })
    },
  },

  'ours, PostgreSQL': {
    server: 'postgres',
    async open(port) {
      const { postgres } = loadOurs('lib/cluster/postgres/index.js')
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

  'SELECT 1': {
    server: 'postgres',
    ...floor,
    open: async (port) => floorOf(pgPool(port), (pool) => pool.query('SELECT 1')),
  },

  'a NOTIFY': {
    server: 'postgres',
    ...floorOfHandOff,
    async open(port) {
      const [client, listener] = [pgPool(port), await pgPool(port).connect()]
      await listener.query('LISTEN key')
      return messages({
        isFirst: async () => {
          const { rows } = await listener.query('SELECT pg_try_advisory_lock(1) AS is_first')
          return rows[0].is_first
        },
        send: (text) => client.query('SELECT pg_notify($1, $2)', ['key', text]),
        listen: (hear) => listener.on('notification', ({ payload }) => hear(payload)),
      })
    },
  },

  'ours, PostgreSQL 18': {
    server: 'postgres-18',
    open: (port) => clusterKits['ours, PostgreSQL'].open(port),
  },

  'pg_advisory_lock, 18': {
    server: 'postgres-18',
    open: (port) => clusterKits.pg_advisory_lock.open(port),
  },

  'SELECT 1, 18': {
    server: 'postgres-18',
    ...floor,
    open: (port) => clusterKits['SELECT 1'].open(port),
  },

  'ours, etcd': {
    server: 'etcd',
    async open(port) {
      const { etcd } = loadOurs('lib/cluster/etcd/index.js')
      return locksOf(etcd(etcd3(port)))
    },
  },

  // As etcd's own package `concurrency` does it: a key under a lease, and a watch of the key before it.
  'etcd3 and a watch': {
    server: 'etcd',
    async open(port) {
      const client = etcd3(port)
      const lease = await client.lease(60).grant()
      let count = 0
      return {
        async enter(key) {
          const own = `${key}/${lease}-${count++}`
          const last = client.getAll().prefix(`${key}/`).sort('Create', 'Descend').limit(2)
          const { header, responses } = await client
            .if(own, 'Create', '==', 0)
            .then(client.put(own).value('').lease(lease), last)
            .commit()
          const [, before] = responses[1].response_range.kvs
          if (before === undefined) return own
          const next = `${BigInt(header.revision) + 1n}`
          const watcher = await client.watch().key(before.key).startRevision(next).create()
          await once(watcher, 'delete')
          watcher.cancel()
          return own
        },
        leave: (own) => client.delete().key(own).exec(),
      }
    },
  },

  'a get': {
    server: 'etcd',
    ...floor,
    open: async (port) => floorOf(etcd3(port), (client) => client.get('key')),
  },

  // A part of our first acquire: the thread that renews.
  'an empty thread': {
    server: 'none',
    open: async () => floorOf(undefined, () => once(new Worker('', { eval: true }), 'exit')),
  },
}

function floorOf(client, ask) {
  return { enter: () => ask(client), leave() {} }
}

/**
 * The first caller of all processes enters at once, and any other one with the next message of another process. The key of
 * a warm-up is no lock.
 */
function messages({ isFirst, send, listen }) {
  const own = `${process.pid}`
  let wake
  let isTried = false
  listen((from) => {
    if (from !== own) wake?.()
  })
  return {
    async enter(key) {
      if (key !== 'key') return false
      const woken = new Promise((resolve) => {
        wake = resolve
      })
      const wasTried = isTried
      isTried = true
      if (wasTried || !(await isFirst())) await woken
      return true
    },
    leave: (isHeld) => isHeld && send(own),
  }
}

function ours(client) {
  const { redis } = loadOurs('lib/cluster/redis/index.js')
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

function etcd3(port) {
  const { Etcd3 } = require('etcd3')
  return new Etcd3({ hosts: `http://127.0.0.1:${port}` })
}

/** PostgreSQL accepts 100 connections by default. */
function pgPool(port) {
  const { Pool } = require('pg')
  return new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 50 })
}

module.exports = { clusterKits }
