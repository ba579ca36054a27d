'use strict'
// An etcd of three servers, one of which at a time is killed or stopped while locks are held.
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Etcd3 } = require('etcd3')
const { KeyedMutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { scaled } = require('../helpers/scale.js')
const { useEnds } = require('./helpers/ends.js')
const { connect } = require('./helpers/etcd_connect.js')
const { etcdCluster } = require('./helpers/etcd_server.js')
const { warmUp } = require('./helpers/warm_up.js')

/** Longer than an election, and than a command's wait for a stopped server. */
const options = { ttl: 10_000, maxHold: 30_000 }

describe('etcd of three servers', function () {
  this.timeout(120_000)
  this.slow(30_000)
  let cluster
  const ends = useEnds()
  before(async () => {
    cluster = await etcdCluster()
  })
  after(() => cluster.close())

  async function mutexOf(members = cluster.members) {
    const { driver, close } = await connect(members.map(({ port }) => port))
    const engine = new Engine(driver(), options)
    ends.push(async () => {
      await engine.close().catch(() => {})
      await close()
    })
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    return mutex
  }

  /** The leading member, as the members themselves report. */
  async function leader() {
    for (;;) {
      for (const member of cluster.members) {
        const client = new Etcd3({ hosts: `http://127.0.0.1:${member.port}` })
        try {
          const { header, leader } = await client.maintenance.status()
          if (header.member_id === leader) return member
        } finally {
          client.close()
        }
      }
      await sleep(50)
    }
  }

  /** Callers of two engines take a key in turn during `trouble()`. Returns their tokens, in order. */
  async function historyDuring(trouble) {
    const mutexes = [await mutexOf(), await mutexOf(), await mutexOf()]
    const tokens = []
    let isInside = false
    let isOver = false
    const work = async (mutex) => {
      while (!isOver) {
        const release = await mutex.acquire('seat', { timeout: 60_000 }).catch(ifAway)
        if (release === undefined) continue
        assert.equal(isInside, false)
        isInside = true
        tokens.push(release.fencingToken)
        await sleep(2)
        isInside = false
        release()
      }
    }
    const working = Promise.all(mutexes.map(work))
    await sleep(scaled(1000, 300))
    await trouble()
    const before = tokens.length
    while (tokens.length < before + 20) await sleep(20)
    isOver = true
    await working
    for (let i = 1; i < tokens.length; i++) assert.ok(tokens[i] > tokens[i - 1], `${i}`)
  }

  it('keeps what is held while its leader is killed, and hands it on', async () => {
    const [a, b] = [await mutexOf(), await mutexOf()]
    const release = await a.acquire('k')
    const next = b.acquire('k', { timeout: 60_000 })
    const killed = await leader()
    await killed.stop()
    try {
      await sleep(options.ttl / 2)
      assert.equal(release.signal.aborted, false)
      const order = []
      next.then(() => order.push('next'))
      await sleep(50)
      assert.deepEqual(order, [])
      release()
      const second = await next
      assert.equal(second.abandoned, false)
      assert.ok(second.fencingToken > release.fencingToken)
      second()
    } finally {
      await killed.start()
    }
  })

  it('keeps holders apart, by their tokens, while its leader is killed and comes back', () =>
    historyDuring(async () => {
      const killed = await leader()
      await killed.stop()
      await sleep(scaled(3000, 1500))
      await killed.start()
    }))

  it('keeps holders apart, by their tokens, while its leader is stopped and goes on', () =>
    historyDuring(async () => {
      const stopped = await leader()
      await stopped.pause()
      await sleep(scaled(6000, 3000))
      stopped.resume()
    }))

  it('keeps what is held while a server is stopped for longer than the ttl', async () => {
    const mutexes = await Promise.all(Array.from({ length: 4 }, () => mutexOf()))
    const releases = await Promise.all(mutexes.map((mutex, i) => mutex.acquire(`${i}`)))
    const [stopped] = cluster.members
    await stopped.pause()
    try {
      await sleep(1.3 * options.ttl)
      for (const { signal } of releases) assert.equal(signal.aborted, false)
    } finally {
      stopped.resume()
    }
    for (const release of releases) release()
  })

  it('does not acquire for a caller that gave up while a server was stopped', async () => {
    const [a, b] = [await mutexOf(), await mutexOf()]
    const [stopped] = cluster.members
    await stopped.pause()
    try {
      const keys = Array.from({ length: 30 }, (_, i) => `late ${i}`)
      const callers = keys.map((key) => a.runExclusive(key, () => {}, { timeout: 500 }))
      const ends = await Promise.allSettled(callers)
      assert.ok(ends.some(({ status }) => status === 'rejected'))
      await a.onIdle()
      await sleep(1500)
      stopped.resume()
      await sleep(1000)
      for (const key of keys) {
        const release = await b.acquire(key, { ifAvailable: true })
        assert.equal(release?.abandoned, false, key)
        release()
      }
    } finally {
      stopped.resume()
    }
  })

  it('rejects in time while most servers are away, and assumes no lock', async () => {
    const a = await mutexOf()
    const gone = cluster.members.slice(1)
    for (const member of gone) await member.stop()
    try {
      await assert.rejects(a.acquire('k', { timeout: 1500 }), { code: 'ERR_LOCK_ENGINE' })
    } finally {
      await Promise.all(gone.map((member) => member.start()))
    }
    ;(await a.acquire('k', { timeout: 60_000 }))()
  })
})

function ifAway(error) {
  if (error.code !== 'ERR_LOCK_ENGINE') throw error
}
