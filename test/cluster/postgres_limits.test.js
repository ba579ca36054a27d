'use strict'
// What the engine uses of a PostgreSQL server that has locked its rows, or has no connection left.
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Client, Pool } = require('pg')
const { KeyedMutex } = require('../..')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { useEnds } = require('./helpers/ends.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { warmUp } = require('./helpers/warm_up.js')

describe('A PostgreSQL server with few connections', function () {
  this.timeout(60_000)
  this.slow(10_000)
  let server
  const ends = useEnds()
  before(async () => {
    server = await postgresServer('max_connections = 20', 'superuser_reserved_connections = 0')
  })
  after(() => server.close())

  const placeOf = (more) => ({
    ...{ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' },
    ...more,
  })

  function engineOver(poolOptions, options) {
    const pool = new Pool(placeOf(poolOptions))
    const engine = postgres(pool, options)
    ends.push(async () => {
      await engine.close()
      await pool.end()
    })
    return engine
  }

  async function connected(more) {
    const client = new Client(placeOf(more))
    await client.connect()
    ends.push(() => client.end())
    return client
  }

  /** The number of server processes of that application. */
  async function countOf(client, name) {
    const { rows } = await client.query(
      'SELECT count(*)::int AS total FROM pg_stat_activity WHERE application_name = $1',
      [name],
    )
    return rows[0].total
  }

  it('keeps few sessions that wait for the locked row of a lock', async () => {
    const name = 'locked row'
    const engine = engineOver({ application_name: name }, { answerTimeout: 500, ttl: 3000 })
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    ;(await mutex.acquire('key'))()
    await mutex.onIdle()
    const other = await connected()
    await other.query('BEGIN')
    await other.query('SELECT * FROM boxoffice.leases FOR UPDATE')
    const watching = await connected()
    let most = 0
    const end = performance.now() + 5000
    while (performance.now() < end) {
      await assert.rejects(mutex.acquire('key'), { code: 'ERR_LOCK_ENGINE' })
      most = Math.max(most, await countOf(watching, name))
    }
    // Four of the engine, two of the renewing thread, the one that listens, and one that is being replaced.
    assert.ok(most <= 8, `${most} sessions`)
    await other.query('ROLLBACK')
    ;(await mutex.acquire('key'))()
  })

  it('says what a command has waited for', async () => {
    // The server ends the statement a fifth of that before.
    const engine = engineOver({}, { answerTimeout: 5000 })
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    ;(await mutex.acquire('key'))()
    await mutex.onIdle()
    const other = await connected()
    await other.query('BEGIN')
    await other.query('LOCK TABLE boxoffice.leases')
    const error = await mutex.acquire('key').catch((reason) => reason)
    assert.equal(error.code, 'ERR_LOCK_ENGINE')
    assert.equal(error.cause?.code, '55P03')
    assert.match(error.message, /lock timeout/)
    await other.query('ROLLBACK')
    await mutex.onIdle()
  })

  it('does not end a lock that is held, when other programs take all connections', async () => {
    const engine = engineOver({ idleTimeoutMillis: 50 }, { ttl: 1500 })
    const mutex = new KeyedMutex({ engine })
    const release = await mutex.acquire('key')
    // The pool's connections have been idle for longer than its idleTimeoutMillis.
    await sleep(700)
    const others = []
    for (;;) {
      const client = new Client(placeOf())
      client.on('error', () => {})
      const failure = await client.connect().then(
        () => undefined,
        (error) => error,
      )
      if (failure !== undefined) {
        assert.equal(failure.code, '53300')
        break
      }
      others.push(client)
    }
    await sleep(3000)
    assert.equal(release.signal.aborted, false, `${release.signal.reason}`)
    await Promise.all(others.map((client) => client.end()))
    release()
    await mutex.onIdle()
  })
})
