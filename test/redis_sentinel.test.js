'use strict'
// Locks over the master that a Redis Sentinel names, before and after a failover.
const assert = require('node:assert/strict')
const { Redis } = require('ioredis')
const { createSentinel } = require('redis')
const { KeyedMutex } = require('..')
const { redis } = require('../lib/cluster/redis/index.js')
const { redisSentinel } = require('./engines/redis_sentinel.js')

describe('Redis Sentinel', function () {
  this.timeout(60_000)
  let servers
  before(async () => {
    servers = await redisSentinel()
  })
  after(() => servers.close())

  it('leads ioredis to the master, and to the next one after a failover', async () => {
    const { name, password, sentinels, sentinelPassword } = servers
    const client = new Redis({ name, password, sentinels, sentinelPassword })
    client.on('error', () => {}) // the master is away
    const engines = [1, 2].map(() => redis(client, { ttl: 1000, answerTimeout: 1000 }))
    const [a, b] = engines.map((engine) => new KeyedMutex({ engine }))
    const take = async (mutex) => {
      for (;;) {
        try {
          return await mutex.acquire('key')
        } catch (error) {
          assert.equal(error.code, 'ERR_LOCK_ENGINE')
        }
      }
    }
    const handOver = async () => {
      const release = await take(a)
      const next = take(b)
      release()
      const last = await next
      assert.ok(last.fencingToken > release.fencingToken)
      last()
      return last.fencingToken
    }
    const before = await handOver()
    await servers.failOver()
    assert.ok((await handOver()) > before)
    await Promise.all(engines.map((engine) => engine.close()))
    client.disconnect()
  })

  it('tells the caller of a password of the sentinel that is wrong for the renewing thread', async () => {
    const { name, password, sentinels, sentinelPassword } = servers
    const client = new Redis({ name, password, sentinels, sentinelPassword })
    const connection = { name, password, sentinels, sentinelPassword: 'wrong' }
    const engine = redis(client, { connection, answerTimeout: 1000 })
    const mutex = new KeyedMutex({ engine })
    let error
    do error = await mutex.acquire('key').catch((reason) => reason)
    while (error.cause === undefined)
    assert.equal(error.code, 'ERR_LOCK_ENGINE')
    assert.match(error.message, /WRONGPASS/)
    await engine.close()
    client.disconnect()
  })

  it('refuses a createSentinel() of node-redis, and says what to use', () => {
    const sentinelRootNodes = servers.sentinels
    const client = createSentinel({ name: servers.name, sentinelRootNodes })
    assert.throws(() => redis(client), {
      name: 'TypeError',
      message: /createSentinel.* ioredis/,
    })
  })
})
