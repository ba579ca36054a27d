'use strict'
// Tests for etcd only: round trips, options, stored keys, and the keep-alive of a process.
const assert = require('node:assert/strict')
const { execFile, spawn } = require('node:child_process')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const { createServer } = require('node:net')
const { promisify } = require('node:util')
const etcd3 = require('etcd3')
const { KeyedMutex, KeyedSemaphore, Mutex } = require('../..')
const { Engine, hubOf } = require('../../lib/cluster/engine.js')
const { etcd } = require('../../lib/cluster/etcd')
const { makeClient, sessionLease } = require('../../lib/cluster/etcd/client.js')
const { etcdDriver } = require('../../lib/cluster/etcd/driver.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { stableAddress } = require('./helpers/stable_address.js')
const { stillTimers } = require('./helpers/still_timers.js')
const { refusalOf, warmUp } = require('./helpers/warm_up.js')

const { Etcd3 } = etcd3

describe('etcd as an engine', () => {
  let server
  let client
  let engines
  before(async () => {
    server = await etcdServer()
    client = new Etcd3({ hosts: `http://127.0.0.1:${server.port}` })
  })
  after(async () => {
    client.close()
    await server.close()
  })
  beforeEach(() => {
    engines = []
  })
  afterEach(() => Promise.all(engines.map((engine) => engine.close())))

  /** An engine with a session. */
  async function engine(options) {
    const made = etcd(client, options)
    engines.push(made)
    await warmUp(new KeyedMutex({ engine: made }))
    return made
  }

  /** The number of transactions that all engines send during `doing()`. */
  async function transactionsOf(doing) {
    const { prototype } = client.kv.constructor
    const { txn } = prototype
    let count = 0
    prototype.txn = function (...args) {
      count++
      return txn.apply(this, args)
    }
    try {
      await doing()
    } finally {
      prototype.txn = txn
    }
    return count
  }

  it('takes one round trip to acquire a free lock, and one to release it', async () => {
    const mutex = new KeyedMutex({ engine: await engine() })
    const key = randomUUID()
    let release
    assert.equal(await transactionsOf(async () => (release = await mutex.acquire(key))), 1)
    const leave = async () => {
      release()
      await mutex.onIdle()
    }
    assert.equal(await transactionsOf(leave), 1)
  })

  it('takes one round trip for each hold when it closes', async () => {
    const closing = await engine()
    const mutex = new KeyedMutex({ engine: closing })
    const keys = [randomUUID(), randomUUID(), randomUUID()]
    for (const key of keys) await mutex.acquire(key)
    assert.equal(await transactionsOf(() => closing.close()), keys.length)
  })

  it('takes two round trips where others hold units, and one to be refused', async () => {
    const [a, b] = [await engine(), await engine()].map(
      (engine) => new KeyedSemaphore(2, { engine }),
    )
    const key = randomUUID()
    const [, first] = await a.acquire(key)
    let second
    assert.equal(await transactionsOf(async () => ([, second] = await b.acquire(key))), 2)
    const refused = () => a.acquire(key, 2, { ifAvailable: true })
    assert.ok((await transactionsOf(refused)) <= 2)
    first()
    second()
  })

  it('hands over in one transaction, and the next holder sends one', async () => {
    const driver = etcdDriver(client)
    const listen = driver.listen.bind(driver)
    let isTold
    const told = new Promise((resolve) => {
      isTold = resolve
    })
    driver.listen = (session, listener) => {
      const wanted = (key) => {
        listener.wanted(key)
        isTold()
      }
      return listen(session, { ...listener, wanted })
    }
    const holding = new Engine(driver)
    engines.push(holding)
    const both = [holding, await engine()]
    // A claim that is not confirmed in time would cost another round trip.
    for (const engine of both) hubOf(engine).claim = 20_000
    const [a, b] = both.map((engine) => new KeyedMutex({ engine }))
    await warmUp(a)
    const key = randomUUID()
    const release = await a.acquire(key)
    const waiting = b.acquire(key)
    // The head of the queue tells the holder.
    await told
    let next
    const count = await transactionsOf(async () => {
      release()
      next = await waiting
      await a.onIdle()
    })
    assert.equal(count, 2)
    next()
  })

  it('leaves nothing behind of a lock that is free', async () => {
    const mutex = new KeyedMutex({ engine: await engine({ prefix: 'shop' }) })
    const key = `${randomUUID()}/%`
    const release = await mutex.acquire(key)
    assert.equal(await client.getAll().prefix('shop/lock/').count(), 1)
    release()
    await mutex.onIdle()
    assert.equal(await client.getAll().prefix('shop/lock/').count(), 0)
    assert.equal(await client.getAll().prefix('shop/queue/').count(), 0)
  })

  it('keeps engines of different prefixes apart', async () => {
    const [a, b] = [await engine({ prefix: 'one' }), await engine({ prefix: 'two' })]
    const name = randomUUID()
    const release = await new Mutex({ engine: a, name }).acquire()
    const other = await new Mutex({ engine: b, name }).acquire({ timeout: 10_000 })
    other()
    release()
  })

  it('keeps its keys in the namespace of its client', async () => {
    const mine = etcd(client.namespace('app/'), { prefix: 'shop' })
    engines.push(mine)
    await mine.ready()
    assert.equal(await client.getAll().prefix('app/shop/session/').count(), 1)
  })

  it('forgets the session that has been closed', async () => {
    const mine = await engine({ prefix: 'closing' })
    assert.equal(await client.getAll().prefix('closing/session/').count(), 1)
    await mine.close()
    assert.equal(await client.getAll().prefix('closing/session/').count(), 0)
  })

  it('ends the holds of a session that an operator ends, whose holder hears of it', async () => {
    const options = { prefix: 'operated', ttl: 5000, maxHold: 20_000 }
    const mutex = new KeyedMutex({ engine: await engine(options) })
    const other = new KeyedMutex({ engine: await engine({ prefix: 'operated' }) })
    const release = await mutex.acquire('k')
    const { signal } = release
    const isLost = once(signal, 'abort')
    const [key] = await client.getAll().prefix('operated/lock/').keys()
    const { holders } = await client.get(key).json()
    const session = holders[0].id.slice(0, holders[0].id.lastIndexOf('-'))
    await client.delete().key(`operated/session/${session}`)
    const next = await other.acquire('k', { timeout: 20_000 })
    assert.equal(next.abandoned, true)
    await isLost
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    next()
    release()
  })

  it('admits a waiter when the session of the one ahead of it ends', async () => {
    const options = { prefix: 'ahead' }
    const all = [await engine(options), await engine(options), await engine(options)]
    const [a, b, c] = all.map((engine) => new KeyedSemaphore(3, { engine }))
    // It does not look by itself.
    stillTimers(all[2])
    const [, release] = await a.acquire('k', 1)
    const heavy = b.acquire('k', 3)
    heavy.catch(() => {}) // its engine is closed while it waits
    const queued = () => client.getAll().prefix('ahead/queue/').count()
    while ((await queued()) < 1);
    const light = c.acquire('k', 1)
    while ((await queued()) < 2);
    const [head] = await client.getAll().prefix('ahead/queue/').sort('Create', 'Ascend').keys()
    const session = head.split('/').at(-1).replace(/-\d+$/, '')
    await client.leaseClient.leaseRevoke({ ID: sessionLease(session) })
    const [, next] = await light
    next()
    release()
  })

  it('keeps no process alive that is done', async () => {
    const code = `
      const { Etcd3 } = require('etcd3')
      const { KeyedMutex } = require('./lib')
      const { etcd } = require('./lib/cluster/etcd')
      const engine = etcd(new Etcd3({ hosts: 'http://127.0.0.1:${server.port}' }))
      new KeyedMutex({ engine }).acquire('k').then((release) => release())`
    const cwd = `${__dirname}/../..`
    await promisify(execFile)(process.execPath, ['-e', code], { cwd, timeout: 25_000 })
  })

  it('keeps no process alive for calls that a server which hangs has not answered', async () => {
    const own = await etcdServer()
    const code = `
      const { Etcd3 } = require('etcd3')
      const { Mutex } = require('./lib')
      const { etcd } = require('./lib/cluster/etcd')
      const client = new Etcd3({ hosts: 'http://127.0.0.1:${own.port}' })
      const engine = etcd(client, { answerTimeout: 2000 })
      new Mutex({ engine, name: 'k' }).acquire().then(() => console.log('held'))
      process.stdin.once('data', async () => {
        process.stdin.destroy()
        await engine.close().catch(({ message }) => console.log(message))
        client.close()
      })`
    const cwd = `${__dirname}/../..`
    const child = spawn(process.execPath, ['-e', code], { cwd, timeout: 50_000 })
    child.stdout.setEncoding('utf8')
    try {
      const ended = once(child, 'exit')
      await once(child.stdout, 'data')
      await own.pause()
      child.stdin.write('close')
      const [text] = await once(child.stdout, 'data')
      const start = performance.now()
      assert.match(text, /there was no answer within 667 ms/)
      assert.deepEqual(await ended, [0, null])
      // gRPC gives up a silent connection after 15 s.
      const time = performance.now() - start
      assert.ok(time < 5000, `${time} ms`)
    } finally {
      child.kill()
      await own.close()
    }
  })

  it('refuses what is no client of etcd3, and options that no thread can be given', () => {
    assert.throws(() => etcd({}), { name: 'TypeError', message: /must be an Etcd3/ })
    assert.throws(() => etcd(client, { prefix: 1 }), TypeError)
    assert.throws(() => etcd(client, { shards: 1 }), /unknown option "shards"/)
    assert.throws(() => etcd(client, { connection: { hosts: [] } }), TypeError)
    const grpcOptions = { 'grpc.some': () => {} }
    const connection = { hosts: 'http://127.0.0.1:1', grpcOptions }
    assert.throws(() => etcd(client, { connection }), /give etcd\(client, \{ connection \}\)/)
  })

  it('rejects with the error of etcd3 as the cause where there is no server', async () => {
    const nowhere = new Etcd3({ hosts: 'http://127.0.0.1:1' })
    const made = etcd(nowhere, { answerTimeout: 1000 })
    engines.push(made)
    const { code, cause } = await refusalOf(new KeyedMutex({ engine: made }), { timeout: 700 })
    assert.equal(code, 'ERR_LOCK_ENGINE')
    assert.match(cause.message, /ECONNREFUSED|No connection/)
    nowhere.close()
  })
  it('connects again when a connection falls silent before it is open', async () => {
    const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const between = await stableAddress(silent.address().port)
    const connection = { hosts: [`http://127.0.0.1:${between.port}`], grpcOptions: {} }
    const own = makeClient(etcd3, connection, 300, 'boxoffice')
    const read = () => own.kv.range({ key: Buffer.from('boxoffice/epoch') })
    try {
      await assert.rejects(read(), /there was no answer/)
      between.lead(server.port)
      let answer
      for (let calls = 0; answer === undefined && calls < 20; calls++)
        answer = await read().catch(() => undefined)
      assert.ok(answer, 'no call got another connection')
    } finally {
      own.close()
      await between.close()
      silent.close()
    }
  })
})
