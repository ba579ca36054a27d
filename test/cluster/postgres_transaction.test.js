'use strict'
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const pg = require('pg')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { postgresServer } = require('./helpers/postgres_server.js')

describe('Locks of a transaction of PostgreSQL', () => {
  let server
  let pool
  let engine
  let clients
  before(async function () {
    this.timeout(60_000)
    server = await postgresServer()
    pool = new pg.Pool({ connectionString: server.url })
    engine = postgres(pool)
  })
  after(async () => {
    await engine.close()
    await pool.end()
    await server.close()
  })
  beforeEach(() => {
    clients = []
  })
  afterEach(() => {
    for (const client of clients) client.release(true)
  })

  /** A client inside a transaction, and its locks. */
  async function begin() {
    const client = await pool.connect()
    clients.push(client)
    await client.query('BEGIN')
    return { client, locks: engine.withTransaction(client) }
  }

  const isPending = (promise) => Promise.race([promise.then(() => false), sleep(50, true)])

  it('are held until the transaction ends, in any way', async () => {
    const [a, b, c] = [await begin(), await begin(), await begin()]
    await a.locks.acquire('seat')
    const second = b.locks.acquire('seat')
    assert.equal(await isPending(second), true)
    await a.client.query('COMMIT')
    await second
    const third = c.locks.acquire('seat')
    assert.equal(await isPending(third), true)
    await b.client.query('ROLLBACK')
    await third
  })

  it('can be taken again by the same transaction', async () => {
    const { locks } = await begin()
    await locks.acquire('seat')
    await locks.acquire('seat', { timeout: 100 })
    assert.equal(await locks.tryAcquire('seat'), true)
  })

  it('can be shared', async () => {
    const [a, b] = [await begin(), await begin()]
    await a.locks.acquire('seat', { shared: true })
    await b.locks.acquire('seat', { shared: true })
    assert.equal(await b.locks.tryAcquire('seat'), false)
    await a.client.query('COMMIT')
    assert.equal(await b.locks.tryAcquire('seat'), true)
  })

  it('return at once whether they are available, of several keys all or none', async () => {
    const [a, b] = [await begin(), await begin()]
    await a.locks.acquire('x')
    assert.equal(await b.locks.tryAcquire('x'), false)
    assert.equal(await b.locks.tryAcquire(['w', 'x', 'y', 'z']), false)
    assert.equal(await a.locks.tryAcquire(['w', 'x', 'y', 'z']), true)
  })

  it('stop waiting after their timeout, and leave the transaction usable', async () => {
    const [a, b] = [await begin(), await begin()]
    await a.locks.acquire('x')
    await b.client.query("SET LOCAL lock_timeout = '7s'")
    await b.client.query('CREATE TEMPORARY TABLE t ON COMMIT DROP AS SELECT 1 AS one')
    await assert.rejects(b.locks.acquire(['w', 'x'], { timeout: 50 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: /^timeout of 50 ms .* of .*"x".* in a transaction/,
    })
    assert.equal((await b.client.query('SELECT one FROM t')).rows[0].one, 1)
    // It has given back the ones it got.
    assert.equal(await a.locks.tryAcquire('w'), true)
    await b.locks.acquire('free', { timeout: 1000 })
    assert.equal((await b.client.query('SHOW lock_timeout')).rows[0].lock_timeout, '7s')
    assert.equal(await a.locks.tryAcquire('free'), false)
  })

  it('take several keys in one order, so that transactions do not deadlock', async () => {
    const keys = ['a', 'b', 'c', 1, 2n, 'a']
    const take = async (i) => {
      const { client, locks } = await begin()
      for (let j = 0; j < 10; j++) {
        await locks.acquire(i % 2 === 0 ? keys : [...keys].reverse())
        await client.query('COMMIT')
        await client.query('BEGIN')
      }
    }
    await Promise.all(Array.from({ length: 4 }, (_, i) => take(i)))
  })

  it('distinguish numbers, bigints and strings', async () => {
    const [a, b] = [await begin(), await begin()]
    await a.locks.acquire('1')
    assert.equal(await b.locks.tryAcquire(1), true)
    assert.equal(await a.locks.tryAcquire(1n), true)
    assert.equal(await b.locks.tryAcquire('1'), false)
  })

  it('are refused if no transaction would hold them', async () => {
    const client = await pool.connect()
    clients.push(client)
    const locks = engine.withTransaction(client)
    const none = { code: 'ERR_LOCK_NO_TRANSACTION', message: /key "[xy]".*BEGIN/ }
    await assert.rejects(locks.acquire('x'), none)
    await assert.rejects(locks.acquire('x', { timeout: 100 }), none)
    await assert.rejects(locks.tryAcquire('x'), none)
    await assert.rejects(locks.tryAcquire(['x', 'y']), none)
    assert.equal(await (await begin()).locks.tryAcquire(['x', 'y']), true)
  })

  it('are refused outside a transaction while another one holds them', async () => {
    await (await begin()).locks.acquire('held')
    const client = await pool.connect()
    clients.push(client)
    const none = { code: 'ERR_LOCK_NO_TRANSACTION' }
    await assert.rejects(engine.withTransaction(client).acquire('held'), none)
  })

  it('may be none', async () => {
    const { locks } = await begin()
    assert.equal(await locks.acquire([]), undefined)
    assert.equal(await locks.acquire([], { timeout: 100 }), undefined)
    assert.equal(await locks.tryAcquire([]), true)
  })

  it('take an object whose query() is that of a client', async () => {
    const { client } = await begin()
    const db = { ...pg, query: (...args) => client.query(...args) }
    assert.equal(await engine.withTransaction(db).tryAcquire('x'), true)
    assert.equal(await (await begin()).locks.tryAcquire('x'), false)
  })

  it('check their input before any command', async () => {
    const { client, locks } = await begin()
    await assert.rejects(locks.acquire(undefined), TypeError)
    await assert.rejects(locks.acquire([NaN]), RangeError)
    await assert.rejects(locks.acquire('x', null), TypeError)
    await assert.rejects(locks.acquire('x', { timeout: -1 }), RangeError)
    await assert.rejects(locks.acquire('x', { timeout: '1' }), TypeError)
    await assert.rejects(locks.acquire('x', { shared: 1 }), TypeError)
    const { signal } = new AbortController()
    await assert.rejects(locks.acquire('x', { signal }), TypeError)
    await assert.rejects(locks.acquire('x', { ifAvailable: true }), {
      message: 'locks of a transaction take no ifAvailable: use tryAcquire()',
    })
    await assert.rejects(locks.acquire('x', { weight: 1, signal: undefined }), {
      message: /unknown option "weight" \(known: shared, timeout\)/,
    })
    await assert.rejects(locks.tryAcquire('x', { timeout: 1 }), TypeError)
    assert.throws(() => engine.withTransaction({}), TypeError)
    assert.throws(() => engine.withTransaction(pool), { message: /and not the pool itself$/ })
    // The transaction has not failed.
    await client.query('SELECT 1')
    assert.equal(await (await begin()).locks.tryAcquire('x'), true)
  })
})
