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
        // One for each caller: of two with the same object the second would hold what the first does.
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
}

function ours(client) {
  const { KeyedMutex } = loadOurs()
  const { redis } = require('../../lib/engines/redis/index.js')
  const mutex = new KeyedMutex({ engine: redis(client) })
  return { enter: (key) => mutex.acquire(key), leave: (release) => release() }
}

/** With its usual delay between two tries, and as many of them as it takes. */
function redlock(Redlock, port) {
  const locks = new Redlock([ioredis(port)], { retryCount: -1 })
  return { enter: (key) => locks.acquire([key], 10_000), leave: (lock) => lock.release() }
}

function ioredis(port) {
  const { Redis } = require('ioredis')
  return new Redis(port, '127.0.0.1')
}

module.exports = { clusterKits }
