'use strict'
// The current majors of the clients of Redis, beside those that all other tests use.
const assert = require('node:assert/strict')
const { Redis } = require('ioredis-6')
const { createClient } = require('redis-6')
const { KeyedMutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { redisServer } = require('./helpers/servers.js')

const host = '127.0.0.1'

describe('A client of a current major', function () {
  this.timeout(60_000)
  const ends = useEnds()
  let server
  before(async () => {
    server = await redisServer('--requirepass', 'secret')
  })
  after(() => server.close())

  const clients = {
    async 'redis 6'() {
      const client = createClient({ url: `redis://:secret@${host}:${server.port}/1` })
      await client.connect()
      ends.push(() => client.destroy())
      return client
    },
    async 'ioredis 6'() {
      const client = new Redis({ host, port: server.port, password: 'secret', db: 1 })
      ends.push(() => client.disconnect())
      return client
    },
  }

  async function handsOver(client, options) {
    const engines = [1, 2].map(() => redis(client, { ttl: 1000, ...options }))
    for (const engine of engines) ends.push(() => engine.close())
    await Promise.all(engines.map((engine) => engine.ready()))
    const [a, b] = engines.map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const next = b.acquire('key')
    release()
    const last = await next
    assert.ok(last.fencingToken > release.fencingToken)
    last()
  }

  for (const [name, connect] of Object.entries(clients)) {
    it(`${name}: hands locks over`, async () => handsOver(await connect()))
  }

  it('redis 6: hands locks over, with its package in the renewing thread', async () => {
    const connection = { socket: { host, port: server.port }, password: 'secret', database: 1 }
    await handsOver(await clients['redis 6'](), { connection })
  })
})
