'use strict'
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const pg = require('pg')
const { KeyedMutex, KeyedSemaphore, Mutex } = require('../..')
const { postgres, postgresSchema } = require('../../lib/cluster/postgres/index.js')
const { Engine } = require('../../lib/cluster/engine.js')
const { makeDriver } = require('../../lib/cluster/postgres/driver.js')
const { useEnds } = require('./helpers/ends.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { warmUp } = require('./helpers/warm_up.js')
const { collect } = require('../helpers/heap.js')
const { run } = require('../helpers/processes.js')

describe('PostgreSQL', () => {
  let server
  let admin
  const ends = useEnds()
  before(async function () {
    this.timeout(60_000)
    server = await postgresServer()
    admin = poolFor('postgres')
  })
  after(async () => {
    await admin.end()
    await server.close()
  })

  function poolFor(database, user = 'postgres', options = {}) {
    const { port } = server
    return new pg.Pool({ host: '127.0.0.1', port, user, database, ...options })
  }

  /** A new database, in which these SQL commands have run. */
  async function database(name, ...commands) {
    await admin.query(`CREATE DATABASE ${name}`)
    const owner = poolFor(name)
    for (const command of commands) await owner.query(command)
    await owner.end()
  }

  function engineFor(pool, options) {
    const engine = postgres(pool, options)
    ends.push(() => engine.close())
    return engine
  }

  function poolOf(...what) {
    const pool = poolFor(...what)
    ends.push(() => pool.end())
    return pool
  }

  it('keeps no request here whose hold has ended by itself', async () => {
    const driver = makeDriver(poolOf('postgres'), {})
    const enter = driver.enter.bind(driver)
    const requests = []
    driver.enter = (request) => {
      requests.push(new WeakRef(request))
      return enter(request)
    }
    const engine = new Engine(driver)
    ends.push(() => engine.close())
    const mutex = new KeyedMutex({ engine, maxHold: 200 })
    for (const key of ['a', 'b', 'c']) {
      const { signal } = await mutex.acquire(key)
      while (!signal.aborted) await sleep(20)
    }
    await sleep(1)
    await collect()
    assert.equal(requests.length, 3)
    for (const request of requests) assert.equal(request.deref(), undefined)
  })

  describe('its tables', () => {
    it('are created on first use, by any number of engines at once', async function () {
      this.timeout(60_000)
      await database('fresh')
      const pool = poolOf('fresh')
      const options = { ttl: 60_000, answerTimeout: 50_000 }
      const all = Array.from(
        { length: 4 },
        () => new KeyedMutex({ engine: engineFor(pool, options) }),
      )
      let inside = 0
      await Promise.all(
        all.map((mutex) => {
          const body = async () => {
            inside++
            assert.equal(inside, 1, 'oracle: two are inside')
            await sleep(5)
            inside--
          }
          // Less than a ttl, because no lock can have been held before.
          return mutex.runExclusive('k', body, { timeout: 50_000 })
        }),
      )
      for (const end of ends.splice(1).reverse()) await end()
      const { rows } = await pool.query('SELECT key, requests::text FROM boxoffice.leases')
      assert.deepEqual(rows, [{ key: 'keyed mutex::sk', requests: '{}' }])
    })

    it('have the requested names, and locks of other tables are independent', async () => {
      const [one, two] = ['One', 'select'].map((table) =>
        engineFor(admin, { schema: 'My_Locks', table }),
      )
      const release = await new KeyedMutex({ engine: one }).acquire('k')
      ;(await new KeyedMutex({ engine: two }).acquire('k', { timeout: 10_000 }))()
      release()
      const { rows } = await admin.query('SELECT key FROM "My_Locks"."select"')
      assert.equal(rows.length, 1)
    })

    it('have no names that would need escaping', () => {
      for (const table of ['', '1a', 'a b', 'a"b', 'é', 'a;', 'a'.repeat(41)]) {
        assert.throws(() => postgres(admin, { table }), RangeError)
        assert.throws(() => postgresSchema({ schema: table }), RangeError)
      }
      assert.throws(() => postgres(admin, { table: 1 }), TypeError)
      assert.throws(() => postgres(admin, { schema: null }), TypeError)
    })

    it('can be created by a migration, for users that may create nothing', async () => {
      await database('strict', 'CREATE ROLE clerk LOGIN', 'REVOKE ALL ON SCHEMA public FROM PUBLIC')
      const pool = poolOf('strict', 'clerk')
      const early = new KeyedMutex({ engine: engineFor(pool) })
      await assert.rejects(early.acquire('k', { timeout: 10_000 }), {
        code: 'ERR_LOCK_ENGINE_SCHEMA',
        message: /"boxoffice"\."leases" is not there.*postgresSchema\(\)/,
      })
      const owner = poolFor('strict')
      await owner.query(postgresSchema())
      await owner.query('GRANT USAGE ON SCHEMA boxoffice TO clerk')
      await owner.query('GRANT ALL ON ALL TABLES IN SCHEMA boxoffice TO clerk')
      await owner.end()
      const mutexes = [early, new KeyedMutex({ engine: engineFor(pool) })]
      for (const mutex of mutexes) (await mutex.acquire('k', { timeout: 10_000 }))()
    })

    it('are upgraded by the engine of a later version', async () => {
      await database('older')
      const pool = poolOf('older')
      await pool.query(postgresSchema())
      // As they were before minHold existed.
      await pool.query('ALTER TABLE boxoffice.leases DROP COLUMN rest')
      await pool.query('DROP FUNCTION boxoffice.leases_enter_9')
      const options = { engine: engineFor(pool), name: 'k', minHold: 60_000 }
      await new Mutex(options).runExclusive(() => {}, { timeout: 10_000 })
      assert.equal(await new Mutex(options).acquire({ ifAvailable: true }), undefined)
    })

    it('work with any default settings of the database', async () => {
      await database('strange')
      await admin.query("ALTER DATABASE strange SET default_transaction_isolation = 'serializable'")
      await admin.query('ALTER DATABASE strange SET default_transaction_read_only = on')
      await admin.query('ALTER DATABASE strange SET synchronous_commit = off')
      await admin.query("ALTER DATABASE strange SET DateStyle = 'SQL, DMY'")
      await admin.query("ALTER DATABASE strange SET search_path = ''")
      const pool = poolOf('strange')
      const all = Array.from({ length: 3 }, () => new KeyedMutex({ engine: engineFor(pool) }))
      let count = 0
      const work = async (mutex) => {
        for (let i = 0; i < 20; i++) await mutex.runExclusive('k', () => count++)
      }
      await Promise.all(all.map(work))
      assert.equal(count, 60)
    })

    it('drop keys that have not been used for long, and no others', async () => {
      await database('old')
      const pool = poolOf('old')
      const mutex = new KeyedMutex({ engine: engineFor(pool) })
      const release = await mutex.acquire('held')
      const past = postgres(pool)
      for (let i = 0; i < 6; i++) await new KeyedMutex({ engine: past }).acquire(`old ${i}`)
      // Leaving uses a key. A Releaser does not wait for it: this does.
      await past.close()
      await pool.query("UPDATE boxoffice.leases SET used_at = used_at - interval '3 hours'")
      for (let i = 0; i < 3; i++) (await mutex.acquire(`new ${i}`))()
      const { rows } = await pool.query('SELECT key FROM boxoffice.leases ORDER BY key')
      const keys = rows.map(({ key }) => key.replace('keyed mutex::s', ''))
      assert.deepEqual(keys, ['held', 'new 0', 'new 1', 'new 2'])
      release()
    })
  })

  it('keeps keys of all types apart', async () => {
    const [a, b] = [engineFor(admin), engineFor(admin)].map((engine) => new KeyedMutex({ engine }))
    const keys = ['', '1', 1, 1n, 'a\0b', 'a\0c', '\ud800', '\udfff', 'é', 'e\u0301']
    keys.push('x'.repeat(10_000), `${'x'.repeat(10_000)}y`, 'sha256:x', 'ключ'.repeat(1000))
    const releases = []
    for (const key of keys) releases.push(await a.acquire(key))
    for (const [i, key] of keys.entries()) {
      await assert.rejects(b.acquire(key, { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      const next = b.acquire(key)
      releases[i]()
      ;(await next)()
    }
  })

  it('tells a holder that others wait for a key stored as a digest', async () => {
    const [a, b] = [engineFor(admin), engineFor(admin)].map((engine) => new KeyedMutex({ engine }))
    const key = 'é'.repeat(1000)
    let isIn = false
    let count = 0
    const work = async () => {
      while (!isIn) await a.runExclusive(key, () => sleep(10, count++))
    }
    const first = await a.acquire(key)
    const ours = [work(), work()]
    const other = b.runExclusive(key, () => {
      isIn = true
    })
    first()
    await Promise.all([...ours, other])
    // Without the message it would keep the lock for its own waiters, as often as one lease has tokens: 4096 times.
    assert.ok(count < 2000, `${count}`)
  })

  it('needs no connection of a pool whose connections all wait for a lock', async () => {
    const pool = poolOf('postgres', 'postgres', { max: 1 })
    const [a, b] = [engineFor(pool), engineFor(pool)].map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('k')
    const client = await pool.connect()
    const next = b.acquire('k')
    await sleep(50)
    release()
    ;(await next)()
    client.release()
  })

  it('sends one command for all local waiters, and one to release', async () => {
    let commands = 0
    class Counting extends pg.Client {
      query(command, ...more) {
        if (command.name !== undefined) commands++
        return super.query(command, ...more)
      }
    }
    const pool = new pg.Pool({ ...admin.options, Client: Counting })
    ends.push(() => pool.end())
    const mutex = new KeyedMutex({ engine: engineFor(pool) })
    await warmUp(mutex)
    await mutex.onIdle()
    commands = 0
    await Promise.all(Array.from({ length: 1000 }, () => mutex.runExclusive('k', () => {})))
    await mutex.onIdle()
    assert.equal(commands, 2)
  })

  /** How a process ends that runs this with a `mutex` of an `engine`. */
  function runWith(code) {
    return run([
      '-e',
      `const { Pool } = require('pg')
       const { KeyedMutex } = require(${JSON.stringify(require.resolve('../..'))})
       const { postgres } = require(${JSON.stringify(require.resolve('../../lib/cluster/postgres'))})
       const pool = new Pool({ connectionString: ${JSON.stringify(server.url)} })
       const engine = postgres(pool)
       const mutex = new KeyedMutex({ engine })
       async function main() { ${code} }
       main()`,
    ])
  }

  it('keeps no process alive without holders and waiters', async () => {
    const { shown, code, stderr } = await runWith(
      "console.log(await mutex.runExclusive('exit', () => 1))",
    )
    assert.deepEqual({ shown, code }, { shown: [1], code: 0 }, stderr)
  })

  it('keeps the process alive until it is closed', async () => {
    const { shown, code, stderr } = await runWith(`
      const release = await mutex.acquire('close')
      await engine.close()
      console.log(release.signal.aborted)`)
    assert.deepEqual({ shown, code }, { shown: [true], code: 0 }, stderr)
    // Sooner than after its ttl.
    const next = new KeyedMutex({ engine: engineFor(admin) })
    await warmUp(next)
    ;(await next.acquire('close', { timeout: 5000 }))()
  })

  it('refuses a semaphore of another value', async () => {
    const name = 'seats'
    const [three, four] = [3, 4].map(
      (value) => new KeyedSemaphore(value, { engine: engineFor(admin), name }),
    )
    const [, release] = await three.acquire('k')
    await assert.rejects(four.acquire('k'), { code: 'ERR_LOCK_MISMATCH' })
    release()
  })

  it('checks its input', () => {
    assert.throws(() => postgres(), TypeError)
    assert.throws(() => postgres({ query() {} }), TypeError)
    assert.throws(() => postgres(admin, null), TypeError)
    assert.throws(() => postgres(admin, { connection: 1 }), TypeError)
    assert.throws(() => postgres(admin, { connections: '1' }), TypeError)
    for (const connections of [0, -1, 1.5, NaN]) {
      assert.throws(() => postgres(admin, { connections }), RangeError)
    }
    assert.throws(() => postgres(admin, { ttl: 1 }), RangeError)
    assert.throws(() => postgres(admin, { connection: { password: () => 'x' } }), {
      name: 'TypeError',
      message: /cannot have functions/,
    })
  })
})
