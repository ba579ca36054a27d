'use strict'
// Locks over the master that a Redis Sentinel names, before and after a failover.
const assert = require('node:assert/strict')
const { Redis } = require('ioredis')
const { createSentinel } = require('redis')
const { KeyedMutex } = require('../..')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { redisSentinel } = require('./helpers/redis_sentinel.js')

describe('Redis Sentinel', function () {
  this.timeout(60_000)
  let servers
  before(async () => {
    servers = await redisSentinel()
  })
  after(() => servers.close())

  const follows = async (servers, client, options) => {
    client.on('error', () => {}) // the master is away
    const engines = [1, 2].map(() => redis(client, { ...options, ttl: 1000, answerTimeout: 1000 }))
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
  }

  it('leads ioredis to the master, and to the next one after a failover', async () => {
    const { name, password, sentinels, sentinelPassword } = servers
    const client = new Redis({ name, password, sentinels, sentinelPassword })
    await follows(servers, client)
    client.disconnect()
  })

  it('rejects with the error of a sentinel password that is wrong for the renewing thread', async () => {
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

  describe('with createSentinel() of node-redis', () => {
    let own
    let connection
    before(async () => {
      own = await redisSentinel()
      connection = {
        name: own.name,
        sentinelRootNodes: own.sentinels,
        nodeClientOptions: { password: own.password },
        sentinelClientOptions: { password: own.sentinelPassword },
      }
    })
    after(() => own.close())

    const connected = () =>
      createSentinel(connection)
        .on('error', () => {})
        .connect()

    const errorWith = async (change) => {
      const client = await connected()
      const engine = redis(client, {
        connection: { ...connection, ...change },
        answerTimeout: 1000,
      })
      const mutex = new KeyedMutex({ engine })
      let error
      do error = await mutex.acquire('key').catch((reason) => reason)
      while (error.cause === undefined)
      assert.equal(error.code, 'ERR_LOCK_ENGINE')
      await engine.close()
      await client.destroy()
      return error.message
    }

    it('rejects with the error of a wrong sentinel password in `connection`', async () => {
      const change = { sentinelClientOptions: { password: 'wrong' } }
      assert.match(await errorWith(change), /WRONGPASS/)
    })

    it('rejects with the error of a wrong master password in `connection`', async () => {
      const change = { nodeClientOptions: { password: 'wrong' } }
      assert.match(await errorWith(change), /WRONGPASS/)
    })

    it('reports that the sentinel knows no such master', async () => {
      assert.match(await errorWith({ name: 'other' }), /knows no master named "other"/)
    })

    it('asks every sentinel of `connection`, also when the first is down', async () => {
      const sentinelRootNodes = [{ host: '127.0.0.1', port: 1 }, ...own.sentinels]
      const client = await connected()
      // On a busy machine, the renewing thread starts slowly.
      const engine = redis(client, {
        connection: { ...connection, sentinelRootNodes },
        answerTimeout: 30_000,
      })
      const mutex = new KeyedMutex({ engine })
      const release = await mutex.acquire('key')
      release()
      await engine.close()
      await client.destroy()
    })

    it('follows the master after a failover, listens to it, and increases fencing tokens', async () => {
      const client = await connected()
      const driver = redisDriver(client, { connection })
      let hear
      let again
      const missed = new Promise((resolve) => {
        again = resolve
      })
      const wanted = (key) => hear(key)
      await driver.listen('session', { wanted, missed: again, trouble() {} })
      const hearsOf = async (key) => {
        const heard = new Promise((resolve) => {
          hear = resolve
        })
        await client.sendCommand(false, ['PUBLISH', '{boxoffice:0}:to:session', `w${key}`])
        assert.equal(await heard, key)
      }
      await hearsOf('before')
      await follows(own, client, { connection })
      await missed
      await hearsOf('after')
      await driver.close()
      await client.destroy()
    })

    it('needs `connection`, with a name, with sentinels, and without functions', () => {
      const client = createSentinel(connection)
      const refused = (options, message) =>
        assert.throws(() => redis(client, options), { name: 'TypeError', message })
      refused(undefined, /createSentinel\(\).* redis\(client, \{ connection \}\)/)
      refused({ connection: { name: 'tickets' } }, /sentinelRootNodes/)
      const nodeClientOptions = { credentialsProvider: { credentials() {} } }
      refused(
        { connection: { ...connection, nodeClientOptions } },
        /^the option nodeClientOptions\.credentialsProvider\.credentials is a function/,
      )
    })
  })
})
