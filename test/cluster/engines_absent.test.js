'use strict'
// Servers that are not there: none is needed to run this.
const { Redis } = require('ioredis')
const { Pool } = require('pg')
const { createClient } = require('redis')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { absent } = require('./helpers/absent.js')

const times = { ttl: 500, maxHold: 500, answerTimeout: 500 }

const connects = {
  redis(port) {
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    client.on('error', () => {}) // that it is away is what this is about
    const connected = client.connect().catch(() => {}) // until it is closed
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
  PostgreSQL(port) {
    const pool = new Pool({ host: '127.0.0.1', port, user: 'nobody', database: 'none' })
    return { engine: postgres(pool, times), close: () => pool.end() }
  },
}

for (const [name, connect] of Object.entries(connects)) {
  describe(`In place of a server, by ${name}`, () => absent(connect))
}
