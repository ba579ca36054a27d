'use strict'
// A cluster of several masters: moving slots, and a dying master.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')
const { Cluster } = require('ioredis')
const { KeyedMutex, KeyedRWLock } = require('../..')
const { hubOf } = require('../../lib/cluster/engine.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { clusterClients, redisCluster } = require('./helpers/redis_cluster.js')

const prefixes = { redis: '', ioredis: 'app:', 'valkey-glide': '' }

describe('A Redis Cluster of several masters', function () {
  this.timeout(60_000)
  this.slow(10_000)
  let cluster
  const ends = useEnds()
  before(async () => {
    cluster = await redisCluster()
  })
  after(() => cluster.close())

  async function engine(connect, options) {
    const client = await connect(cluster.nodes[1].port)
    const made = redis(client, { ttl: 1000, maxHold: 20_000, answerTimeout: 30_000, ...options })
    ends.push(async () => {
      await made.close().catch(() => {}) // a server may have died
      await (client.destroy ?? client.disconnect ?? client.close).call(client)
    })
    return made
  }

  for (const [name, connect] of Object.entries(clusterClients)) {
    it(`spreads locks over all masters, with any braces in their names, by ${name}`, async () => {
      const [a, b] = [await engine(connect, { shards: 16 }), await engine(connect, { shards: 16 })]
      for (const name of ['{', '}', '{}', '}{', '{a}b', 'a{b']) {
        const [mine, theirs] = [a, b].map((engine) => new KeyedMutex({ engine, name }))
        for (const key of [name, `{${name}}`, randomUUID()]) {
          const release = await mine.acquire(key)
          const next = theirs.acquire(key)
          await sleep(10)
          release()
          assert.ok((await next).fencingToken > release.fencingToken)
          ;(await next)()
        }
      }
      const sizes = await Promise.all(cluster.nodes.slice(0, 3).map((node) => node.ask('DBSIZE')))
      for (const size of sizes) assert.ok(size > 0, `${sizes}`)
    })

    it(`goes on when a slot moves while a lock is held and awaited, by ${name}`, async () => {
      const prefix = `moves ${name}`
      const options = { prefix, ttl: 10_000 }
      const [a, b] = [await engine(connect, options), await engine(connect, options)]
      // A claim whose message was lost lasts until the waiter looks by itself, even after a stall.
      for (const engine of [a, b]) hubOf(engine).claim = 10_000
      const [mine, theirs] = [a, b].map((engine) => new KeyedRWLock({ engine }))
      const release = await mine.acquireWrite('key')
      const next = theirs.acquireWrite('key')
      await sleep(100)
      const slot = await cluster.slotOf(`${prefixes[name]}{${prefix}:0}`)
      const from = cluster.ownerOf(slot)
      await cluster.move(slot, from, cluster.nodes[from === cluster.nodes[1] ? 2 : 1])
      release()
      let held = await next
      assert.ok(held.fencingToken > release.fencingToken)
      assert.equal(held.abandoned, false)
      // Soon both get messages from the new server, and need not look by themselves.
      let told = 0
      while (told < 2) {
        for (const one of [mine, theirs]) {
          const again = one.acquireWrite('key')
          await sleep(50)
          const since = performance.now()
          held()
          held = await again
          told = performance.now() - since < 400 ? told + 1 : 0
        }
      }
      held()
    })
  }

  it('has higher tokens when a replica has taken over', async () => {
    const all = []
    for (const [name, connect] of Object.entries(clusterClients)) {
      const prefix = await prefixAt(cluster, prefixes[name])
      const engines = [await engine(connect, { prefix }), await engine(connect, { prefix })]
      const [mine, theirs] = engines.map((engine) => new KeyedMutex({ engine }))
      const release = await mine.acquire('key')
      await theirs.runExclusive('other', () => {})
      all.push({ mine, theirs, release })
    }
    await cluster.takeOver()
    // As a replica, because node-redis asks no other node for its master.
    await cluster.nodes[0].start()
    for (const { mine, theirs, release } of all) {
      release()
      const next = await theirs.acquire('key', { timeout: 20_000 })
      assert.ok(next.fencingToken > release.fencingToken)
      const waiting = mine.acquire('key', { timeout: 20_000 })
      await sleep(50)
      next()
      assert.ok((await waiting).fencingToken > next.fencingToken)
      ;(await waiting)()
    }
  })
})

/** A client whose locks lie at the first master. */
async function prefixAt(cluster, before) {
  for (;;) {
    const prefix = randomUUID()
    const slot = await cluster.slotOf(`${before}{${prefix}:0}`)
    if (cluster.ownerOf(slot) === cluster.nodes[0]) return prefix
  }
}

describe('A Redis Cluster', () => {
  it('takes no keyPrefix that would spread one lock over several slots', () => {
    for (const keyPrefix of ['{}', 'a{}b']) {
      const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { keyPrefix, lazyConnect: true })
      assert.throws(() => redis(client), { name: 'RangeError', message: /keyPrefix/ })
      client.disconnect()
    }
    const client = new Cluster([], { redisOptions: { keyPrefix: '{a}:' }, lazyConnect: true })
    redis(client)
    client.disconnect()
  })
})
