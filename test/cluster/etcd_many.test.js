'use strict'
// A lock of several hundred processes: etcd limits the size of a transaction and the number of its operations. And more
// commands of one process than etcd answers within the time limit of one.
const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { EventEmitter, once } = require('node:events')
const { Etcd3 } = require('etcd3')
const { KeyedMutex, Semaphore } = require('../..')
const { etcd } = require('../../lib/cluster/etcd')
const { Plan } = require('../../lib/cluster/etcd/plan.js')
const { connect } = require('./helpers/etcd_connect.js')
const { useEnds } = require('./helpers/ends.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { stableAddress } = require('./helpers/stable_address.js')

const capacity = 2 ** 20
const usual = { key: 'read-write lock:many', capacity, wait: true, first: false, maxHold: 60_000 }
const request = { ...usual, minHold: 0, claim: 60_000, keep: 0, untold: false, unused: false }
const newSession = () => randomBytes(9).toString('base64url')

describe('etcd with many holders of a lock', function () {
  this.timeout(60_000)
  this.slow(20_000)

  /** Calls `work` with a driver, and a keeper of the same server. */
  async function withDriver(work) {
    const server = await etcdServer()
    const { driver: makeDriver, close } = await connect(server.port)
    const driver = makeDriver()
    const keeper = await require(driver.keeper.module).connect(driver.keeper.data)
    try {
      await work(driver, keeper)
    } finally {
      await driver.close()
      await keeper.close()
      await close()
      await server.close()
    }
  }

  it('admits them after a writer, and tells all of them of the next writer', () =>
    withDriver(async (driver, keeper) => {
      const [own, ...others] = Array.from({ length: 400 }, newSession)
      const messages = new EventEmitter()
      const [granted, wanted] = ['granted', 'wanted'].map((name) => once(messages, name))
      await driver.listen(own, {
        granted: (id) => messages.emit('granted', id),
        wanted: (key) => messages.emit('wanted', key),
        missed() {},
        trouble() {},
      })
      for (const session of [own, ...others]) await keeper.open(session, 60_000)
      const writer = { ...request, session: others[0], id: `${others[0]}-1`, units: capacity }
      assert.equal((await driver.enter(writer)).state, 'held')
      const readerOf = (session) => ({ ...request, session, id: `${session}-2`, units: 1 })
      const readers = [...others, own].map(readerOf)
      for (const reader of readers) assert.equal((await driver.enter(reader)).state, 'waiting')
      await driver.leave(writer)
      assert.equal((await driver.enter(readers.at(-1))).state, 'held')
      assert.deepEqual(await granted, [readers.at(-1).id])
      const next = { ...writer, id: `${others[0]}-3` }
      assert.equal((await driver.enter(next)).state, 'waiting')
      assert.deepEqual(await wanted, [request.key])
    }))

  it('admits a writer when all of their sessions have ended', () =>
    withDriver(async (driver, keeper) => {
      const [own, ...others] = Array.from({ length: 200 }, newSession)
      const listener = { granted() {}, wanted() {}, missed() {}, trouble() {} }
      await driver.listen(own, listener)
      for (const session of [own, ...others]) await keeper.open(session, 60_000)
      for (const session of others) {
        const reader = { ...request, session, id: `${session}-1`, units: 1 }
        assert.equal((await driver.enter(reader)).state, 'held')
      }
      await Promise.all(others.map((session) => driver.end(session)))
      // Of another capacity, so it is refused while any holder counts, and until the driver has heard of all ends.
      const writer = { ...request, session: own, id: `${own}-1`, units: 1, capacity: 1 }
      let answer
      do answer = await driver.enter(writer)
      while (answer.state === 'mismatch')
      assert.deepEqual([answer.state, answer.abandoned], ['held', true])
    }))
})

describe('Many commands at once over etcd', function () {
  this.timeout(60_000)
  this.slow(20_000)
  const ends = useEnds()

  async function newEngine(options) {
    const server = await etcdServer()
    ends.push(() => server.close())
    const client = new Etcd3({ hosts: `http://127.0.0.1:${server.port}` })
    const engine = etcd(client, options)
    ends.push(async () => {
      await engine.close().catch(() => {})
      client.close()
    })
    await engine.ready()
    return engine
  }

  it('of many keys wait for one another, and do not blame the server', async () => {
    const mutex = new KeyedMutex({ engine: await newEngine({ answerTimeout: 3000 }) })
    const all = Array.from({ length: 3000 }, (_, i) => mutex.acquire(`key ${i}`))
    for (const releasing of await Promise.all(all)) releasing()
    await mutex.onIdle()
  })

  it('of one key wait for one another, and do not blame the server', async () => {
    const engine = await newEngine({ answerTimeout: 1500 })
    const semaphore = new Semaphore(1000, { engine, name: 'many' })
    const all = Array.from({ length: 600 }, () => semaphore.acquire())
    for (const [, release] of await Promise.all(all)) release()
    await semaphore.onIdle()
  })

  /** Two drivers with a session each. `between` is the address of the first. */
  async function twoDrivers() {
    const server = await etcdServer()
    const between = await stableAddress(server.port)
    ends.push(async () => {
      await between.close()
      await server.close()
    })
    const [here, there] = [await connect(between.port), await connect(server.port)]
    const [driver, other] = [here.driver(), there.driver()]
    const keeper = await require(other.keeper.module).connect(other.keeper.data)
    ends.push(async () => {
      for (const one of [driver, other, keeper]) await one.close()
      for (const one of [here, there]) await one.close()
    })
    const [own, theirs] = [newSession(), newSession()]
    const granted = new EventEmitter()
    const listener = { granted: (id) => granted.emit(id), wanted() {}, missed() {}, trouble() {} }
    await driver.listen(own, listener)
    await other.listen(theirs, listener)
    for (const session of [own, theirs]) await keeper.open(session, 60_000)
    const admitted = (id) => new Promise((resolve) => granted.once(id, resolve))
    return { driver, other, between, own, theirs, keeper, admitted }
  }

  it('are planned once each, at the cost of one look at each holder', async () => {
    const semaphore = new Semaphore(50, { engine: await newEngine(), name: 'planned' })
    const { reap } = Plan.prototype
    let [plans, looks] = [0, 0]
    Plan.prototype.reap = function () {
      plans++
      looks += this.holders.length
      reap.call(this)
    }
    try {
      const all = await Promise.all(Array.from({ length: 50 }, () => semaphore.acquire()))
      for (const [, release] of all) release()
      await semaphore.onIdle()
    } finally {
      Plan.prototype.reap = reap
    }
    assert.deepEqual([plans, looks], [100, 50 * 49])
  })

  it('admit all waiters that fit when the head of the queue leaves', async () => {
    const { driver, other, own, theirs, admitted } = await twoDrivers()
    const holder = { ...request, capacity: 64, session: own, id: `${own}-0`, units: 1 }
    assert.equal((await driver.enter(holder)).state, 'held')
    const head = { ...holder, id: `${own}-1`, units: 64 }
    assert.equal((await driver.enter(head)).state, 'waiting')
    // More than one read of the queue shows.
    const all = Array.from({ length: 40 }, async (_, i) => {
      const waiter = { ...holder, session: theirs, id: `${theirs}-${i}` }
      assert.equal((await other.enter(waiter)).state, 'waiting')
      return waiter.id
    })
    const granted = (await Promise.all(all)).map(admitted)
    await driver.leave(head)
    await Promise.all(granted)
  })

  it('leave a queue of which no read shows them', async () => {
    const { driver, other, own, theirs, keeper, admitted } = await twoDrivers()
    const dead = newSession()
    await keeper.open(dead, 60_000)
    const holder = { ...request, capacity: 40, session: own, id: `${own}-0`, units: 39 }
    assert.equal((await driver.enter(holder)).state, 'held')
    const ending = { ...holder, session: dead, id: `${dead}-0`, units: 1 }
    assert.equal((await other.enter(ending)).state, 'held')
    const waiters = Array.from({ length: 33 }, (_, i) => `${theirs}-${i}`)
    for (const id of waiters)
      assert.equal((await other.enter({ ...ending, session: theirs, id })).state, 'waiting')
    const leaver = { ...ending, session: own, id: `${own}-1` }
    assert.equal((await driver.enter(leaver)).state, 'waiting')
    // The driver learns of the end of the session.
    const isTold = admitted(leaver.id)
    await other.end(dead)
    await isTold
    await driver.leave(leaver)
    const last = admitted(waiters.at(-1))
    await driver.leave(holder)
    await last
    // No unit is held for the request that has left.
    const next = { ...holder, id: `${own}-2`, units: 40 - waiters.length }
    assert.equal((await driver.enter(next)).state, 'held')
  })

  it('let a release go first', async () => {
    const { driver, own } = await twoDrivers()
    const holder = { ...request, session: own, id: `${own}-0`, units: 1 }
    assert.equal((await driver.enter(holder)).state, 'held')
    let done = 0
    const all = Array.from({ length: 1000 }, async (_, i) => {
      await driver.enter({ ...holder, key: `key ${i}`, id: `${own}-${i + 1}` })
      done++
    })
    await driver.leave(holder)
    // Some are under way, and no others are sent before it.
    assert.ok(done < 200, `${done} of 1000`)
    await Promise.all(all)
  })

  it('let one that asks for its grant go first', async () => {
    const { driver, other, between, own, theirs } = await twoDrivers()
    const holder = { ...request, session: theirs, id: `${theirs}-1`, units: capacity }
    assert.equal((await other.enter(holder)).state, 'held')
    const waiter = { ...request, session: own, id: `${own}-1`, units: capacity }
    assert.equal((await driver.enter(waiter)).state, 'waiting')
    between.slow(50)
    let done = 0
    const all = Array.from({ length: 1000 }, async (_, i) => {
      await driver.enter({ ...waiter, key: `key ${i}`, id: `${own}-${i + 2}` })
      done++
    })
    // It looks again, behind all of them.
    const asking = driver.enter(waiter)
    await other.leave(holder)
    assert.equal((await asking).state, 'held')
    assert.ok(done < 500, `${done} of 1000`)
    await Promise.all(all)
  })
})
