'use strict'
// A cluster whose slots redis-cli moves while locks in them are held and awaited.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const { Redis } = require('ioredis')
const { KeyedMutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { clusterClients, redisCluster, withNewServer } = require('./helpers/redis_cluster.js')

const run = promisify(execFile)
const prefixes = { redis: '', ioredis: 'app:', 'valkey-glide': '' }
const keys = Array.from({ length: 300 }, (_, i) => `key ${i}`)
/** So many slots are moved, the lowest of their master first. */
const count = 64

describe('redis-cli --cluster reshard', function () {
  this.timeout(120_000)
  this.slow(30_000)
  let cluster
  /** How many connections the clients have made to listen. */
  let listeners
  const ends = useEnds()
  before(async () => {
    cluster = await redisCluster()
  })
  beforeEach(() => {
    listeners = 0
  })
  after(() => cluster.close())

  async function engine(connect, options) {
    const client = await connect(cluster.nodes[1].port)
    const duplicate = client.duplicate?.bind(client)
    client.duplicate = (...rest) => {
      listeners++
      return duplicate(...rest)
    }
    const made = redis(client, { ttl: 5000, maxHold: 60_000, answerTimeout: 20_000, ...options })
    ends.push(async () => {
      await made.close()
      await (client.destroy ?? client.disconnect ?? client.close).call(client)
    })
    return made
  }

  /** Locks of it lie in one of the slots that are moved. */
  async function prefixIn(slots, before) {
    for (let i = 0; ; i++) {
      const slot = await cluster.nodes[1].ask('CLUSTER', 'KEYSLOT', `${before}{moved ${i}:0}`)
      if (slots.includes(slot)) return { prefix: `moved ${i}`, slot }
    }
  }

  async function slotsOf(node) {
    const all = await node.ask('CLUSTER', 'SLOTS')
    return all
      .filter(([, , [, port]]) => port === node.port)
      .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => from + i))
  }

  /** More keys of the slot, so that moving it takes a while. */
  async function fill(base, node) {
    const client = new Redis(node.port, '127.0.0.1')
    const words = Array.from({ length: 10_000 }, (_, i) => [`${base}:more:${i}`, '0']).flat()
    await client.mset(words)
    client.disconnect()
  }

  const reshard = (from, to) =>
    run('redis-cli', [
      ...['--cluster', 'reshard', `127.0.0.1:${from.port}`],
      ...['--cluster-from', from.id, '--cluster-to', to.id],
      ...['--cluster-slots', `${count}`, '--cluster-yes', '--cluster-pipeline', '1'],
    ])

  for (const [name, connect] of Object.entries(clusterClients)) {
    it(`takes no held lock away, by ${name}`, async () => {
      const [from, to] = [cluster.nodes[1], cluster.nodes[2]]
      const slots = (await slotsOf(from)).slice(0, count)
      const { prefix, slot } = await prefixIn(slots, prefixes[name])
      const [mine, theirs, free] = await Promise.all(
        [1, 2, 3].map(() => engine(connect, { prefix })),
      )
      const [a, b, c] = [mine, theirs, free].map((engine) => new KeyedMutex({ engine }))
      const held = await Promise.all(keys.map((key) => a.acquire(key)))
      await fill(`${prefixes[name]}{${prefix}:0}`, from)
      let released = 0
      let isEarly = false
      const waiting = keys.slice(150).map(async (key) => {
        const release = await b.acquire(key)
        if (released === 0) isEarly = true
        release()
      })
      let isMoving = true
      let asked = 0
      /** New requests, for keys that are held and for keys that no process has used yet. */
      const asking = async () => {
        while (isMoving) {
          const key = keys[asked++ % keys.length]
          assert.equal(await c.acquire(key, { ifAvailable: true }), undefined, `${key} is held`)
        }
      }
      const doing = Promise.all(Array.from({ length: 8 }, asking))
      const moved = reshard(from, to).finally(() => {
        isMoving = false
      })
      await Promise.all([doing, moved])
      assert.equal(isEarly, false)
      assert.ok(asked > 0)
      for (const { signal } of held) assert.equal(signal.aborted, false, `${signal.reason}`)
      assert.ok((await slotsOf(to)).includes(slot))
      for (const release of held) {
        released++
        release()
      }
      await Promise.all(waiting)
      const again = await Promise.all(keys.map((key) => c.acquire(key)))
      for (const [i, { abandoned, fencingToken }] of again.entries()) {
        assert.equal(abandoned, false)
        assert.ok(fencingToken > held[i].fencingToken)
      }
      for (const release of again) release()
      assert.ok(listeners <= 3, `${listeners} connections to listen for 3 engines`)
    })
  }

  for (const name of ['redis', 'ioredis']) {
    it(`tells a caller that times out of a half moved slot, by ${name}`, async () => {
      const [from, to] = [cluster.nodes[1], cluster.nodes[2]]
      const { prefix, slot } = await prefixIn(await slotsOf(from), prefixes[name])
      const mutex = new KeyedMutex({ engine: await engine(clusterClients[name], { prefix }) })
      const release = await mutex.acquire('before')
      await to.ask('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', from.id)
      await from.ask('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', to.id)
      const waiting = mutex.acquire('after')
      await assert.rejects(mutex.acquire('key', { timeout: 3000 }), {
        code: 'ERR_LOCK_TIMEOUT',
        message: /is being moved to another server/,
      })
      // It has given up the move.
      for (const node of [from, to]) await node.ask('CLUSTER', 'SETSLOT', `${slot}`, 'STABLE')
      ;(await waiting)()
      release()
      await mutex.onIdle()
    })

    it(`tells a caller that times out of a slot that moves to a new server, by ${name}`, async () => {
      const { from, to, begin } = await withNewServer()
      ends.push(() => Promise.all([from.close(), to.close()]))
      const client = await clusterClients[name](from.port)
      const made = redis(client, { prefix: 'new' })
      ends.push(async () => {
        await made.close().catch(() => {}) // the slot is half moved
        await (client.destroy ?? client.disconnect).call(client)
      })
      const mutex = new KeyedMutex({ engine: made })
      await mutex.runExclusive('before', () => {})
      await begin(`${prefixes[name]}{new:0}`)
      await assert.rejects(mutex.acquire('key', { timeout: 3000 }), {
        code: 'ERR_LOCK_TIMEOUT',
        message: /is being moved to another server/,
      })
    })
  }
})
