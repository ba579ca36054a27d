'use strict'
// The first session over real servers: a caller that blocks its thread at once loses no lease.
const assert = require('node:assert/strict')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { Etcd3 } = require('etcd3')
const { Redis } = require('ioredis')
const { Pool } = require('pg')
const { Mutex } = require('../..')
const { etcd } = require('../../lib/cluster/etcd/index.js')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')

const host = '127.0.0.1'
const ttl = 6000

/** By server: an engine over it. `ends` is that of useEnds(). */
const engines = {
  async Redis(ends) {
    const server = await redisServer()
    const client = new Redis({ host, port: server.port })
    ends.push(async () => {
      client.disconnect()
      await server.close()
    })
    return redis(client, { ttl })
  },
  async PostgreSQL(ends) {
    const server = await postgresServer()
    const pool = new Pool({ connectionString: server.url })
    ends.push(async () => {
      await pool.end()
      await server.close()
    })
    return postgres(pool, { ttl })
  },
  async etcd(ends) {
    const server = await etcdServer()
    const client = new Etcd3({ hosts: `${host}:${server.port}` })
    ends.push(async () => {
      client.close()
      await server.close()
    })
    return etcd(client, { ttl })
  },
}

const block = (time) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time)

describe('The first session over a real server', function () {
  this.timeout(60_000)
  const ends = useEnds()

  it('outlasts a thread that is blocked from its first grant on', async () => {
    const grants = {}
    for (const [name, start] of Object.entries(engines)) {
      const engine = await start(ends)
      ends.push(() => engine.close())
      grants[name] = await new Mutex({ engine, name: 'a' }).acquire()
    }
    const lost = () => Object.keys(grants).filter((name) => grants[name].signal.aborted)
    block(2 * ttl)
    await nextTurn()
    assert.deepEqual(lost(), [])
    await new Promise((resolve) => setTimeout(resolve, ttl / 3))
    assert.deepEqual(lost(), [])
  })
})
