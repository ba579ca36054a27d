'use strict'
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { Redis } = require('ioredis')
const { createClient } = require('redis')
const { redis } = require('../../lib/cluster/redis/index.js')
const { contract } = require('./helpers/contract.js')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { glideClient } = require('./helpers/glide.js')
const { clusterClients, clusterOfOne } = require('./helpers/redis_cluster.js')
const { redisServer } = require('./helpers/servers.js')
const { warmUp } = require('./helpers/warm_up.js')
const { run } = require('../helpers/processes.js')
const { warningsOf } = require('../helpers/warnings.js')
const { KeyedMutex, Mutex } = require('../..')

const clients = {
  redis: async (port) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}` })
    await client.connect()
    return client
  },
  ioredis: async (port) => new Redis(port, '127.0.0.1', { keyPrefix: 'app:' }),
  'valkey-glide': (port) => glideClient(port),
}
const closeClient = (client) => (client.destroy ?? client.disconnect ?? client.close).call(client)

// redis_contract.test.js has node-redis, beside which the others differ little.
for (const [name, connect] of Object.entries(clients).filter(([name]) => name !== 'redis')) {
  contractOf(`Redis and ${name}`, redisServer, connect)
}
for (const [name, connect] of Object.entries(clusterClients)) {
  contractOf(`Redis Cluster and ${name}`, clusterOfOne, connect, { shards: 3 })
}

function contractOf(what, startServer, connect, options) {
  describe(`The contract of engines, with ${what}`, () => {
    contract(async () => {
      const server = await startServer()
      const client = await connect(server.port)
      return {
        driver: () => redisDriver(client, options),
        async stop() {
          closeClient(client)
          await server.close()
        },
      }
    })
  })
}

describe('Redis', () => {
  let server
  let client
  let engine
  before(async () => {
    server = await redisServer()
    client = await clients.redis(server.port)
    engine = redis(client)
  })
  after(async () => {
    await engine.close()
    closeClient(client)
    await server.close()
  })

  it('gets one request for a thousand waiters', async () => {
    const mutex = new KeyedMutex({ engine })
    await mutex.runExclusive('before', () => {})
    const count = async () => {
      const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'))
      return Number(calls)
    }
    const before = await count()
    const all = Array.from({ length: 1000 }, () => mutex.runExclusive('key', () => {}))
    await Promise.all(all)
    const after = await count()
    assert.ok(after - before <= 2, `${after - before} commands`)
  })

  it('goes on when its scripts are flushed', async () => {
    const mutex = new KeyedMutex({ engine })
    const release = await mutex.acquire('key')
    await client.scriptFlush()
    release()
    await client.scriptFlush()
    ;(await mutex.acquire('key'))()
  })

  it('forgets a key some time after the last session has left it', async () => {
    const mutex = new KeyedMutex({ engine })
    const key = randomUUID()
    await mutex.runExclusive(key, () => {})
    for (const name of await client.keys(`*${key}*`)) {
      assert.ok((await client.pTTL(name)) > 0, name)
    }
  })

  it('remembers a key for as long as it can be held', async () => {
    const long = redis(client, { maxHold: 100_000_000 })
    const key = randomUUID()
    try {
      const release = await new KeyedMutex({ engine: long }).acquire(key)
      await assert.rejects(new KeyedMutex({ engine }).acquire(key, { timeout: 20 }))
      for (const name of await client.keys(`*${key}*`)) {
        assert.ok((await client.pTTL(name)) > 100_000_000, name)
      }
      release()
    } finally {
      await long.close()
    }
  })

  it('keeps kinds, names and keys apart', async () => {
    const maps = [
      new KeyedMutex({ engine }),
      new KeyedMutex({ engine, name: 'a' }),
      new KeyedMutex({ engine, name: 'a:s' }),
    ]
    const releasers = []
    for (const map of maps) {
      for (const key of ['b', 's:b', 1, '1', 1n, '\ud800', '\ufffd']) {
        releasers.push(await map.acquire(key, { timeout: 5000 }))
      }
    }
    releasers.push(await new Mutex({ engine, name: 'a' }).acquire({ timeout: 5000 }))
    for (const release of releasers) release()
  })

  it('refuses another number of shards than the other processes of its prefix have', async () => {
    const [first, other] = [2, 3].map((shards) => redis(client, { prefix: 'sharded', shards }))
    await warmUp(new KeyedMutex({ engine: first }))
    await assert.rejects(new KeyedMutex({ engine: other }).acquire('key'), {
      code: 'ERR_LOCK_MISMATCH',
      message:
        /^the other processes have shards: 2, and this one has shards: 3, .* delete the key \{sharded:0\}:shards,/,
    })
    await first.close()
    await other.close()
  })

  it('warns of more than ten engines at once, as where each request makes one', async () => {
    const engines = Array.from({ length: 11 }, () => redis(client, { answerTimeout: 30_000 }))
    const ready = () => Promise.all(engines.map((engine) => engine.ready()))
    const [warning] = await warningsOf('BOXOFFICE_MANY_ENGINES', ready)
    assert.match(
      warning.message,
      /^more than 10 engines are open in this thread, .* not for each request/,
    )
    await Promise.all(engines.map((engine) => engine.close()))
    const next = redis(client, { answerTimeout: 30_000 })
    assert.deepEqual(await warningsOf('BOXOFFICE_MANY_ENGINES', () => next.ready()), [])
    await next.close()
  })

  it('checks its input', () => {
    assert.throws(() => redis({}), { name: 'TypeError', message: /client must be/ })
    assert.throws(() => redis(client, { ttl: 10 }), { name: 'RangeError', message: /ttl/ })
    assert.throws(() => redis(client, { ttl: '1' }), { name: 'TypeError', message: /ttl/ })
    assert.throws(() => redis(client, { maxHold: 5000 }), RangeError)
    assert.throws(() => redis(client, { prefix: '{' }), RangeError)
    assert.throws(() => redis(client, { shards: 0 }), RangeError)
    assert.throws(() => new Mutex({ engine }), { name: 'TypeError', message: /name/ })
    assert.throws(() => new Mutex({ engine: {}, name: 'a' }), TypeError)
  })
})

describe('An engine over Redis whose server is away', () => {
  for (const [name, connect] of Object.entries(clients)) {
    it(`is closed in time all the same, by ${name}`, async () => {
      const server = await redisServer()
      const client = await connect(server.port)
      client.on?.('error', () => {}) // the server is away
      const [used, unused] = [1, 2].map(() => redis(client, { ttl: 1000, answerTimeout: 2000 }))
      const mutex = new KeyedMutex({ engine: used })
      await warmUp(mutex)
      const release = await mutex.acquire('key', { timeout: 5000 })
      await server.close()
      try {
        await assert.rejects(new KeyedMutex({ engine: unused }).acquire('key'), {
          code: 'ERR_LOCK_ENGINE',
        })
        await unused.close()
        await used.close().catch(({ code }) => assert.equal(code, 'ERR_LOCK_ENGINE'))
        assert.equal(release.signal.aborted, true)
      } finally {
        closeClient(client)
      }
    })
  }
})

describe('A process with an engine over Redis', () => {
  let server
  before(async () => {
    server = await redisServer()
  })
  after(() => server.close())

  /** How a process ends that runs `code` with a mutex, its client and the test's clients. */
  const runWith = (connect, code) => {
    const script = `
      const { KeyedMutex } = require('boxoffice')
      const { redis } = require('boxoffice/redis')
      async function main() {
        ${connect}
        const mutex = new KeyedMutex({ engine: redis(client) })
        ${code}
      }
      main()`
    return run(['-e', script], { env: { PORT: `${server.port}` } })
  }

  const connects = {
    redis: `const client = require('redis').createClient({ url: 'redis://127.0.0.1:' + process.env.PORT })
      await client.connect()`,
    ioredis: `const client = new (require('ioredis').Redis)(Number(process.env.PORT))
      client.destroy = client.disconnect`,
    'valkey-glide': `const { GlideClient, Logger } = require('@valkey/valkey-glide')
      Logger.setLoggerConfig('off')
      const addresses = [{ host: '127.0.0.1', port: Number(process.env.PORT) }]
      const client = await GlideClient.createClient({ addresses })
      client.destroy = client.close`,
  }

  for (const [name, connect] of Object.entries(connects)) {
    it(`ends when the client of ${name} has been closed, whatever it holds`, async () => {
      const code = `await mutex.acquire('${name}'); client.destroy(); console.log(1)`
      const { code: status, shown, stderr } = await runWith(connect, code)
      assert.equal(stderr, '')
      assert.deepEqual({ status, shown }, { status: 0, shown: [1] })
    })

    it(`ends when it releases after the client of ${name} has been closed`, async () => {
      const code = `const release = await mutex.acquire('late ${name}')
        client.destroy(); release(); console.log(1)`
      const { code: status, shown, stderr } = await runWith(connect, code)
      assert.equal(stderr, '')
      assert.deepEqual({ status, shown }, { status: 0, shown: [1] })
    })
  }
})
