'use strict'
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { setTimeout: sleep } = require('node:timers/promises')
const { Pool, defaults, types } = require('pg')
const { KeyedMutex, KeyedSemaphore } = require('../..')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { useEnds } = require('./helpers/ends.js')
const { pgbouncer } = require('./helpers/pgbouncer.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { proxy } = require('./helpers/servers.js')
const { stillTimers } = require('./helpers/still_timers.js')
const { warmUp } = require('./helpers/warm_up.js')
const { stop } = require('../helpers/processes.js')

describe('Connections to PostgreSQL', () => {
  let server
  const ends = useEnds()
  before(async function () {
    this.timeout(60_000)
    server = await postgresServer()
  })
  after(() => server.close())

  function poolAt(port, options) {
    const place = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }
    const pool = new Pool({ ...place, ...options })
    pool.on('error', () => {}) // its connection is cut
    ends.push(() => pool.end())
    return pool
  }

  async function engineAt(port, options) {
    const engine = postgres(poolAt(port), options)
    ends.push(() => engine.close())
    await warmUp(new KeyedMutex({ engine }))
    return engine
  }

  const mutexAt = async (...how) => new KeyedMutex({ engine: await engineAt(...how) })

  /** A mutex whose waiters do not look by themselves. */
  async function stillMutexAt(...how) {
    const engine = await engineAt(...how)
    stillTimers(engine)
    return new KeyedMutex({ engine })
  }

  async function bouncer(mode) {
    const made = await pgbouncer(server.port, mode)
    ends.push(() => made.close())
    return made.port
  }

  /**
   * Resolves, once a waiter is queued for `key`, to the server process of its listening connection.
   */
  async function listenerOf(pool, key) {
    for (;;) {
      const { rows } = await pool.query(
        `SELECT s.listener FROM boxoffice.leases l, unnest(l.requests) s
           WHERE l.key LIKE '%' || $1 AND s.token IS NULL`,
        [key],
      )
      if (rows.length > 0) return rows[0].listener
      await sleep(5)
    }
  }

  describe('through pgbouncer', () => {
    it('are refused if each transaction may get another session', async () => {
      const direct = poolAt(server.port)
      await direct.query("ALTER ROLE postgres SET default_transaction_isolation = 'serializable'")
      ends.push(() => direct.query('ALTER ROLE postgres RESET default_transaction_isolation'))
      const pool = poolAt(await bouncer('transaction'))
      const mutex = new KeyedMutex({ engine: postgres(pool, { answerTimeout: 20_000 }) })
      const start = performance.now()
      await assert.rejects(mutex.acquire('k'), {
        code: 'ERR_LOCK_ENGINE_SESSION',
        message: /pool_mode=transaction.*postgres\(pool, \{ connection \}\)/,
      })
      assert.ok(performance.now() - start < 15_000)
      // The next one is refused as well, and leaves nothing behind.
      await assert.rejects(mutex.acquire('k'), { code: 'ERR_LOCK_ENGINE_SESSION' })
      assert.equal(mutex.size, 0)
      // Nor in the sessions that others share.
      const { rows } = await pool.query('SHOW default_transaction_isolation')
      assert.equal(rows[0].default_transaction_isolation, 'serializable')
    })

    it('may bypass it for the engine only', async () => {
      const pool = poolAt(await bouncer('transaction'))
      const { port } = server
      const connection = { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' }
      const engine = postgres(pool, { connection })
      ends.push(() => engine.close())
      const mutex = new KeyedMutex({ engine })
      await mutex.runExclusive('k', async () => {
        const [one, two] = [await pool.connect(), await pool.connect()]
        await one.query('BEGIN')
        await two.query('BEGIN')
        await engine.withTransaction(one).acquire('row')
        assert.equal(await engine.withTransaction(two).tryAcquire('row'), false)
        await one.query('COMMIT')
        assert.equal(await engine.withTransaction(two).tryAcquire('row'), true)
        await two.query('COMMIT')
        one.release()
        two.release()
      })
    })

    it('work if it keeps one session per client', async () => {
      const port = await bouncer('session')
      const [a, b] = [await mutexAt(port), await mutexAt(port)]
      const release = await a.acquire('k')
      const next = b.acquire('k')
      await listenerOf(poolAt(server.port), 'k')
      release()
      ;(await next)()
    })
  })

  describe('whose values the program parses in its own way', () => {
    /** For every type that the engine reads: void, bool, int8, int4, text, float8. */
    const oids = [2278, 16, 20, 23, 25, 701]
    const parse = () => ({ parsed: true })
    const custom = { getTypeParser: () => parse }

    /**
     * Everything that the engine reads: grants, waits, refusals, capacities, and a transaction's
     * locks.
     */
    async function useAll(mutexes, engine, pool) {
      const [a, b] = mutexes
      const key = randomUUID()
      const release = await a.acquire(key, { timeout: 5000 })
      await assert.rejects(b.acquire(key, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      const next = b.acquire(key, { timeout: 5000 })
      await sleep(50)
      release()
      const token = (await next).fencingToken
      assert.ok(token > release.fencingToken)
      ;(await next)()
      const two = await new KeyedSemaphore(2, { engine }).acquire(key)
      await assert.rejects(new KeyedSemaphore(3, { engine: mutexes.other }).acquire(key), {
        code: 'ERR_LOCK_MISMATCH',
        message: /value 2/,
      })
      two[1]()
      const client = await pool.connect()
      const locks = engine.withTransaction(client)
      await assert.rejects(locks.acquire(key), { code: 'ERR_LOCK_NO_TRANSACTION' })
      await client.query('BEGIN')
      await locks.acquire(key, { timeout: 20_000 })
      assert.equal(await locks.tryAcquire([key, 'other']), true)
      await client.query('COMMIT')
      client.release()
    }

    async function useWith(options) {
      const pools = [poolAt(server.port, options), poolAt(server.port, options)]
      const engines = pools.map((pool) => postgres(pool))
      for (const engine of engines) ends.push(() => engine.close())
      const mutexes = engines.map((engine) => new KeyedMutex({ engine }))
      mutexes.other = engines[1]
      await useAll(mutexes, engines[0], pools[0])
    }

    it('are read as text if the parsers of pg are replaced', async () => {
      const before = oids.map((oid) => types.getTypeParser(oid))
      for (const oid of oids) types.setTypeParser(oid, parse)
      try {
        await useWith({})
      } finally {
        oids.forEach((oid, i) => {
          types.setTypeParser(oid, before[i])
        })
      }
    })

    it('are read as text if the pool has parsers of its own', () => useWith({ types: custom }))

    it('are read as text if pg requests binary values by default', async () => {
      defaults.binary = true
      try {
        const [a, b] = [await mutexAt(server.port), await mutexAt(server.port)]
        const release = await a.acquire('binary', { timeout: 5000 })
        const next = b.acquire('binary', { timeout: 5000 })
        release()
        ;(await next)()
      } finally {
        defaults.binary = false
      }
    })
  })

  it('do not have the query_timeout of the pool, which counts the time of a blocked event loop', async () => {
    const engine = postgres(poolAt(server.port, { query_timeout: 1 }))
    ends.push(() => engine.close())
    await engine.ready()
  })

  it('reconnect by themselves when the listening one is ended, and its turn comes', async () => {
    const [a, b] = [await mutexAt(server.port), await stillMutexAt(server.port)]
    const pool = poolAt(server.port)
    const key = randomUUID()
    for (let i = 0; i < 3; i++) {
      const release = await a.acquire(key)
      const next = b.acquire(key)
      await pool.query('SELECT pg_terminate_backend($1)', [await listenerOf(pool, key)])
      release()
      ;(await next)()
    }
  })

  it('are dropped when nothing comes through them any more, and replaced', async () => {
    const a = await mutexAt(server.port)
    const b = await stillMutexAt(server.port, { answerTimeout: 1000 })
    const key = randomUUID()
    const release = await a.acquire(key)
    const next = b.acquire(key)
    const listener = await listenerOf(poolAt(server.port), key)
    await stop(listener)
    try {
      release()
      ;(await next)()
    } finally {
      process.kill(listener, 'SIGCONT')
    }
  })

  it('are closed in time if nothing comes through them', async () => {
    const way = await proxy(server.port)
    const engine = postgres(poolAt(way.port), { answerTimeout: 1000 })
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    const release = await mutex.acquire('k', { timeout: 5000 })
    way.stall()
    const start = performance.now()
    // It could not give back its lock.
    await assert.rejects(engine.close())
    assert.ok(performance.now() - start < 10_000)
    assert.equal(release.signal.aborted, true)
    await way.close()
  })
})
