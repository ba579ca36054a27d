'use strict'
// An error by which PostgreSQL refuses a user a login or a right reaches the caller as `cause`,
// from any connection of the engine.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const { writeFileSync } = require('node:fs')
const { Pool } = require('pg')
const { KeyedMutex } = require('../..')
const { postgres, postgresSchema } = require('../../lib/cluster/postgres/index.js')
const { useEnds } = require('./helpers/ends.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { refusalOf, warmUp } = require('./helpers/warm_up.js')

/** How long an immediate error may take. */
const soon = 4000

describe('A user of PostgreSQL', function () {
  this.timeout(30_000)
  let server
  let admin
  const ends = useEnds()
  before(async function () {
    this.timeout(60_000)
    server = await postgresServer()
    admin = new Pool({ ...place(), user: 'postgres' })
    const { rows } = await admin.query('SHOW hba_file')
    writeFileSync(
      rows[0].hba_file,
      'host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n',
    )
    await admin.query('SELECT pg_reload_conf()')
    await admin.query(postgresSchema())
  })
  after(async () => {
    await admin.end()
    await server.close()
  })

  const place = () => ({ host: '127.0.0.1', port: server.port, database: 'postgres' })

  async function userWith(...rights) {
    const name = `user_${randomUUID().replaceAll('-', '')}`
    await admin.query(`CREATE ROLE ${name} LOGIN`)
    for (const right of rights) await admin.query(`GRANT ${right} TO ${name}`)
    return name
  }

  const allRights = ['USAGE ON SCHEMA boxoffice', 'ALL ON ALL TABLES IN SCHEMA boxoffice']

  function mutexOf(user, { pool: more, ...options } = {}) {
    const pool = new Pool({ ...place(), user, ...more })
    const engine = postgres(pool, options)
    ends.push(async () => {
      await engine.close().catch(() => {}) // the server does not accept it any more
      if (!pool.ending) await pool.end()
    })
    return { mutex: new KeyedMutex({ engine }), pool }
  }

  const turnedAway = (code) => (error) => {
    assert.equal(error.code, 'ERR_LOCK_ENGINE')
    assert.equal(error.cause?.code, code)
    assert.ok(error.message.endsWith(error.cause.message), error.message)
    return true
  }

  it('with a wrong password gets that error', async () => {
    await admin.query("CREATE ROLE guarded LOGIN PASSWORD 'right'")
    const { mutex } = mutexOf('guarded', { answerTimeout: 1000, pool: { password: 'wrong' } })
    turnedAway('28P01')(await refusalOf(mutex))
    turnedAway('28P01')(await refusalOf(mutex, { timeout: 900 }))
  })

  it('that requires TLS of a server without TLS gets that error', async () => {
    const { mutex } = mutexOf('postgres', { answerTimeout: 1000, pool: { ssl: true } })
    const { code, cause } = await refusalOf(mutex)
    assert.equal(code, 'ERR_LOCK_ENGINE')
    assert.match(cause.message, /SSL/)
  })

  it('that may not connect any more gets that error by the lost lease, and by the next wait', async () => {
    const user = await userWith(...allRights)
    const { mutex } = mutexOf(user, { ttl: 2000, answerTimeout: 1000 })
    await warmUp(mutex)
    const release = await mutex.acquire('key', { timeout: 10_000 })
    const { signal } = release
    const lost = once(signal, 'abort')
    await admin.query(`ALTER ROLE ${user} NOLOGIN`)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
      user,
    ])
    await lost
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    assert.equal(rootOf(signal.reason).code, '28000')
    release()
    turnedAway('28000')(await refusalOf(mutex))
  })

  it('whose listening connection cannot be restored gets that error while it waits', async () => {
    const user = await userWith(...allRights)
    const { mutex } = mutexOf(user, { answerTimeout: 1000 })
    const other = mutexOf('postgres').mutex
    await warmUp(mutex)
    const release = await other.acquire('awaited', { timeout: 20_000 })
    const waiting = mutex.acquire('awaited')
    waiting.catch(() => {}) // examined below
    const listener = await listenerOf('awaited')
    await admin.query(`ALTER ROLE ${user} NOLOGIN`)
    const start = performance.now()
    await admin.query('SELECT pg_terminate_backend($1)', [listener])
    await assert.rejects(waiting, turnedAway('28000'))
    assert.ok(performance.now() - start < soon)
    await admin.query(`ALTER ROLE ${user} LOGIN`)
    const next = mutex.acquire('awaited', { timeout: 20_000 })
    release()
    ;(await next)()
  })

  /** The error that all others refer to. */
  const rootOf = (error) => (error.cause === undefined ? error : rootOf(error.cause))

  async function listenerOf(key) {
    for (;;) {
      const { rows } = await admin.query(
        `SELECT s.listener FROM boxoffice.leases l, unnest(l.requests) s
           WHERE l.key LIKE '%' || $1 AND s.token IS NULL`,
        [key],
      )
      if (rows.length > 0) return rows[0].listener
    }
  }

  const lacking = {
    'to the schema': [],
    'to the tables': ['USAGE ON SCHEMA boxoffice'],
    'to the leases': ['USAGE ON SCHEMA boxoffice', 'ALL ON boxoffice.leases_sessions'],
  }

  for (const [what, rights] of Object.entries(lacking)) {
    it(`without rights ${what} gets an error that names them at once`, async () => {
      const { mutex } = mutexOf(await userWith(...rights), { answerTimeout: 20_000 })
      const start = performance.now()
      await assert.rejects(mutex.acquire('key'), ({ code, message, cause }) => {
        assert.equal(code, 'ERR_LOCK_ENGINE_SCHEMA')
        assert.match(message, /permission denied.*grant this one USAGE of schema boxoffice/)
        assert.equal(cause.code, '42501')
        return true
      })
      assert.ok(performance.now() - start < 15_000)
    })
  }

  it('that has ended the pool gets that error, and can release its locks', async () => {
    const { mutex, pool } = mutexOf('postgres')
    const other = mutexOf('postgres').mutex
    const release = await mutex.acquire('held', { timeout: 20_000 })
    await pool.end()
    const ended = {
      code: 'ERR_LOCK_ENGINE',
      message: /the pool of postgres\(pool\) has been ended/,
    }
    await assert.rejects(mutex.acquire('key'), ended)
    await assert.rejects(new KeyedMutex({ engine: postgres(pool) }).acquire('key'), ended)
    release()
    ;(await other.acquire('held', { timeout: 20_000 }))()
  })

  it('can end a pool that has only lent its classes', async () => {
    const pool = new Pool()
    const engine = postgres(pool, { connection: { ...place(), user: 'postgres' } })
    await pool.end()
    await warmUp(new KeyedMutex({ engine }))
    await engine.close()
  })
})
