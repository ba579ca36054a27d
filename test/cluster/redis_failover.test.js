'use strict'
// A failover behind a stable address, and connections that fall silent, with the clients of Redis.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { Cluster, Redis } = require('ioredis')
const { createClient, createCluster } = require('redis')
const { KeyedMutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { glideClient } = require('./helpers/glide.js')
const { clusterOfOne } = require('./helpers/redis_cluster.js')
const { freePort, redisServer } = require('./helpers/servers.js')
const { stableAddress } = require('./helpers/stable_address.js')
const { warmUp } = require('./helpers/warm_up.js')

const host = '127.0.0.1'

/** By package: makes a client, and the options of one to another port. */
const clients = {
  redis: {
    async connect(port) {
      const client = createClient({ socket: { host, port, reconnectStrategy: () => 20 } })
      client.on('error', () => {}) // its connection is cut
      await client.connect()
      return { client, close: () => client.destroy() }
    },
    optionsOf: (port) => ({ socket: { host, port } }),
  },
  ioredis: {
    async connect(port) {
      const client = new Redis(port, host, { retryStrategy: () => 20 })
      client.on('error', () => {})
      return { client, close: () => client.disconnect() }
    },
    optionsOf: (port) => ({ host, port }),
  },
  'valkey-glide': {
    async connect(port) {
      const client = await glideClient(port)
      return { client, close: () => client.close() }
    },
    optionsOf: (port) => ({ addresses: [{ host, port }] }),
  },
}

const isListener = (sent) => /subscribe/i.test(sent)

/** A server and its replica, which has all of its data. */
async function pair() {
  const [first, second] = await Promise.all([redisServer(), redisServer()])
  const [one, two] = [first, second].map(({ port }) => new Redis(port, host))
  await two.replicaof(host, first.port)
  while (!(await two.info('replication')).includes('master_link_status:up')) await sleep(20)
  return {
    first,
    second,
    /** The second one has all commands so far, and gets no further ones. */
    async part() {
      await one.wait(1, 0)
      await two.replicaof('NO', 'ONE')
    },
    /** The two change their parts, and no connection ends. `lead()` is called as soon as there is another master. */
    async failOver(lead) {
      await one.wait(1, 0)
      await two.replicaof('NO', 'ONE')
      lead()
      await one.replicaof(host, second.port)
      while (!(await one.info('replication')).includes('master_link_status:up')) await sleep(20)
    },
    async close() {
      for (const client of [one, two]) client.disconnect()
      await Promise.all([first.close(), second.close()])
    },
  }
}

for (const [name, { connect, optionsOf }] of Object.entries(clients)) {
  describe(`Connections to Redis, by ${name}`, function () {
    this.timeout(60_000)
    this.slow(10_000)
    const ends = useEnds()

    async function address(port) {
      const made = await stableAddress(port)
      ends.push(() => made.close())
      return made
    }

    async function mutexAt(port, options) {
      const { client, close } = await connect(port)
      ends.push(close)
      const engine = redis(client, options)
      ends.push(() => engine.close())
      const mutex = new KeyedMutex({ engine })
      await warmUp(mutex)
      return mutex
    }

    it('renew at the new master after a failover behind a stable address', async () => {
      const servers = await pair()
      ends.push(() => servers.close())
      const [forCommands, forRenewing] = [
        await address(servers.first.port),
        await address(servers.first.port),
      ]
      const mutex = await mutexAt(forCommands.port, {
        ttl: 3000,
        connection: optionsOf(forRenewing.port),
      })
      const release = await mutex.acquire('key')
      await servers.failOver(() => {
        forRenewing.lead(servers.second.port)
        forCommands.lead(servers.second.port)
        forCommands.cut()
      })
      await sleep(6000)
      assert.equal(release.signal.aborted, false, `${release.signal.reason}`)
      release()
      ;(await mutex.acquire('key'))()
    })

    it('repeat a release that the replica lacks when it takes over', async () => {
      const servers = await pair()
      ends.push(() => servers.close())
      const { port, lead, cut } = await address(servers.first.port)
      const [a, b] = [await mutexAt(port), await mutexAt(port)]
      const release = await a.acquire('key')
      await servers.part()
      release()
      await a.onIdle()
      lead(servers.second.port)
      cut()
      const { abandoned, release: end } = await b.acquire('key', { timeout: 20_000 })
      assert.equal(abandoned, false)
      end()
    })

    it('renew by another connection when the first one falls silent', async () => {
      const server = await redisServer()
      ends.push(() => server.close())
      const forRenewing = await address(server.port)
      const mutex = await mutexAt(server.port, {
        ttl: 3000,
        connection: optionsOf(forRenewing.port),
      })
      const release = await mutex.acquire('key')
      forRenewing.silence()
      await sleep(6000)
      assert.equal(release.signal.aborted, false, `${release.signal.reason}`)
      assert.ok(forRenewing.count() >= 1)
      release()
    })

    it('listen at the new master after a failover behind a stable address', async () => {
      const servers = await pair()
      ends.push(() => servers.close())
      const { port, lead, cut, count } = await address(servers.first.port)
      const options = { answerTimeout: 1000, ttl: 10_000 }
      const [a, b] = [await mutexAt(port, options), await mutexAt(port, options)]
      await servers.failOver(() => lead(servers.second.port))
      cut((sent) => !isListener(sent))
      const client = new Redis(servers.second.port, host)
      ends.push(() => client.disconnect())
      while ((await client.pubsub('CHANNELS')).length < 2) await sleep(20)
      assert.ok(count(isListener) >= 2)
      await handsOver(a, b)
    })
  })
}

/** Messages bring the lock from one to the other, without a look. */
async function handsOver(a, b) {
  let release = await a.acquire('key', { timeout: 20_000 })
  for (const mutex of [b, a, b, a]) {
    const next = mutex.acquire('key', { timeout: 20_000 })
    await sleep(100)
    const start = performance.now()
    release()
    release = await next
    assert.ok(performance.now() - start < 900, `${performance.now() - start} ms`)
    assert.equal(release.abandoned, false)
  }
  release()
}

const clusterClients = {
  async redis(port) {
    const client = createCluster({ rootNodes: [{ socket: { host, port } }] })
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.destroy() }
  },
  async ioredis(port) {
    const client = new Cluster([{ host, port }])
    client.on('error', () => {})
    await once(client, 'ready')
    return { client, close: () => client.disconnect() }
  },
}

for (const [name, connect] of Object.entries(clusterClients)) {
  describe(`Connections to a Redis Cluster, by ${name}`, function () {
    this.timeout(60_000)
    this.slow(10_000)
    const ends = useEnds()

    it('listen anew when they have fallen silent', async () => {
      const front = await stableAddress(await freePort())
      ends.push(() => front.close())
      const node = await clusterOfOne('--cluster-announce-port', front.port)
      ends.push(() => node.close())
      front.lead(node.port)
      const make = async () => {
        const { client, close } = await connect(front.port)
        ends.push(close)
        const engine = redis(client, { answerTimeout: 1000, ttl: 10_000 })
        ends.push(() => engine.close())
        const mutex = new KeyedMutex({ engine })
        await warmUp(mutex)
        return mutex
      }
      const [a, b] = [await make(), await make()]
      await handsOver(a, b)
      const before = front.count(isListener)
      front.silence(isListener)
      while (front.count(isListener) < before) await sleep(20)
      await handsOver(a, b)
    })
  })
}
