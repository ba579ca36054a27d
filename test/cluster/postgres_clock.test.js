'use strict'
// A clock of the server that is set back by a day: nothing lasts a day longer.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { Pool } = require('pg')
const { KeyedMutex } = require('../..')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { makeDriver } = require('../../lib/cluster/postgres/driver.js')
const { readNames } = require('../../lib/cluster/postgres/names.js')
const { useEnds } = require('./helpers/ends.js')
const { postgresWith } = require('./helpers/postgres_server.js')
const { serverClock } = require('./helpers/server_clock.js')
const { warmUp } = require('./helpers/warm_up.js')

const day = 86_400
const hour = 3_600_000
const names = readNames({})

describe('A PostgreSQL server whose clock is set back by a day', function () {
  this.timeout(60_000)
  this.slow(20_000)
  let clock
  let server
  let days = 10
  let waiting
  const ends = useEnds()
  before(async () => {
    clock = await serverClock()
    server = await postgresWith({ how: { env: clock.env } })
    await clock.set(days * day)
  })
  // It makes the tables, too.
  beforeEach(async () => {
    waiting = await mutex()
  })
  after(async () => {
    await server.close()
    clock.close()
  })

  function setBack() {
    days--
    return clock.set(days * day)
  }

  const poolOf = () =>
    new Pool({ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' })

  /** A holder by a session of `ttl` ms, which nothing renews. */
  async function hold(key, ttl, times) {
    const pool = poolOf()
    const driver = makeDriver(pool, {})
    ends.push(async () => {
      await driver.close()
      await pool.end()
    })
    const session = randomUUID()
    await pool.query(`SELECT ${names.open}($1, $2)`, [session, ttl])
    const asked = {
      session,
      key: `keyed mutex::s${key}`,
      id: `${session}-1`,
      units: 1,
      capacity: 1,
    }
    const request = { ...asked, claim: 1000, minHold: 0, wait: true, first: false, ...times }
    assert.equal((await driver.enter(request)).state, 'held')
    return {
      confirm: (maxHold) => driver.confirm({ ...request, maxHold }),
      leave: () => driver.leave({ ...request, keep: 0, untold: false, unused: false }),
    }
  }

  async function mutex() {
    const pool = poolOf()
    const engine = postgres(pool, { ttl: 60_000 })
    ends.push(async () => {
      await engine.close()
      await pool.end()
    })
    const made = new KeyedMutex({ engine })
    await warmUp(made)
    return made
  }

  it('grants the lock of a dead holder after the ttl of its session', async () => {
    const key = randomUUID()
    await hold(key, 2000, { maxHold: hour })
    await setBack()
    const release = await waiting.acquire(key, { timeout: 20_000 })
    assert.equal(release.abandoned, true)
    release()
  })

  it('grants the lock of a holder that has exceeded maxHold', async () => {
    const key = randomUUID()
    const { confirm } = await hold(key, hour, { maxHold: 1000 })
    assert.equal((await confirm(2000)).state, 'held')
    await setBack()
    // The waiter asks for as long as its own maxHold.
    const short = new KeyedMutex({ engine: await engineOf(1500) })
    const release = await short.acquire(key, { timeout: 20_000 })
    assert.equal(release.abandoned, true)
    release()
  })

  async function engineOf(maxHold) {
    const pool = poolOf()
    const engine = postgres(pool, { ttl: 1500, maxHold, answerTimeout: 30_000 })
    ends.push(async () => {
      await engine.close()
      await pool.end()
    })
    return engine
  }

  it('grants a lock after the end of its minHold', async () => {
    const key = randomUUID()
    const { leave } = await hold(key, hour, { maxHold: 3000, minHold: 2000 })
    await leave()
    await setBack()
    const short = new KeyedMutex({ engine: await engineOf(3000) })
    const release = await short.acquire(key, { timeout: 20_000 })
    release()
  })

  it('takes nothing from a holder that lives', async () => {
    const key = randomUUID()
    const theirs = await mutex()
    const release = await waiting.acquire(key)
    await setBack()
    await assert.rejects(theirs.acquire(key, { timeout: 7000 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.equal(release.signal.aborted, false)
    release()
    const next = await theirs.acquire(key, { timeout: 20_000 })
    assert.equal(next.abandoned, false)
    next()
  })

  it('grants the locks of a transaction that has begun before', async () => {
    const pool = poolOf()
    const engine = postgres(pool)
    const client = await pool.connect()
    ends.push(async () => {
      client.release(true)
      await engine.close()
      await pool.end()
    })
    await client.query('BEGIN')
    await setBack()
    const locks = engine.withTransaction(client)
    await locks.acquire('a')
    await locks.acquire('b', { timeout: 1000 })
    assert.equal(await locks.tryAcquire(['c', 'd']), true)
  })
})
