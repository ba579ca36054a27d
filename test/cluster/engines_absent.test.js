'use strict'
// Servers that are away: these tests need no server.
const { Redis } = require('ioredis')
const { Pool } = require('pg')
const { createClient } = require('redis')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { absent } = require('./helpers/absent.js')
const { glideClient } = require('./helpers/glide.js')

const times = { ttl: 500, maxHold: 500, answerTimeout: 500 }

const connects = {
  redis(port) {
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    client.on('error', () => {}) // expected: the server is away
    const connected = client.connect().catch(() => {}) // pending until it is closed
    return {
      engine: redis(client, times),
      async close() {
        client.destroy()
        await connected
      },
    }
  },
  ioredis(port) {
    const client = new Redis(port, '127.0.0.1')
    client.on('error', () => {})
    return { engine: redis(client, times), close: async () => client.disconnect() }
  },
  async 'valkey-glide'(port) {
    const client = await glideClient(port, { lazyConnect: true })
    return { engine: redis(client, times), close: async () => client.close() }
  },
  PostgreSQL(port) {
    const pool = new Pool({ host: '127.0.0.1', port, user: 'nobody', database: 'none' })
    return { engine: postgres(pool, times), close: () => pool.end() }
  },
}

for (const [name, connect] of Object.entries(connects)) {
  describe(`Without a server, by ${name}`, () => absent(connect))
}
