'use strict'
// A clock of the server that is set back by a day: nothing lasts a day longer.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { Redis } = require('ioredis')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { KeyedMutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { redisNode } = require('./helpers/redis_pair.js')
const { serverClock } = require('./helpers/server_clock.js')
const { warmUp } = require('./helpers/warm_up.js')

const day = 86_400
const hour = 3_600_000

describe('A Redis server whose clock is set back by a day', function () {
  this.timeout(60_000)
  this.slow(20_000)
  let clock
  let server
  let client
  let days = 10
  const ends = useEnds()
  before(async () => {
    clock = await serverClock()
    server = await redisNode({ env: clock.env, options: [] })
    client = new Redis(server.port, '127.0.0.1')
    await clock.set(days * day)
  })
  after(async () => {
    client.disconnect()
    await server.close()
    clock.close()
  })

  function setBack() {
    days--
    return clock.set(days * day)
  }

  /** A holder by a session of `ttl` ms, which nothing renews. */
  async function hold(key, ttl, times) {
    const driver = redisDriver(client)
    ends.push(() => driver.close())
    const session = randomUUID()
    await client.set(`{boxoffice:0}:s:${session}`, `host:1 ${ttl}`, 'PX', ttl)
    const asked = {
      session,
      key: `keyed mutex::s${key}`,
      id: `${session}-1`,
      units: 1,
      capacity: 1,
    }
    const request = { ...asked, claim: 1000, minHold: 0, wait: true, first: false, ...times }
    assert.equal((await driver.enter(request)).state, 'held')
    return () => driver.leave({ ...request, keep: 0, untold: false, unused: false })
  }

  async function mutex() {
    const engine = redis(client, { ttl: 60_000 })
    ends.push(() => engine.close())
    const made = new KeyedMutex({ engine })
    await warmUp(made)
    return made
  }

  it('grants the lock of a dead holder after the ttl of its session', async () => {
    const key = randomUUID()
    const waiting = await mutex()
    await hold(key, 2000, { maxHold: hour })
    await setBack()
    const release = await waiting.acquire(key, { timeout: 20_000 })
    assert.equal(release.abandoned, true)
    release()
  })

  it('grants the lock of a holder that has exceeded maxHold', async () => {
    const key = randomUUID()
    const waiting = await mutex()
    await hold(key, hour, { maxHold: 2000 })
    await setBack()
    const release = await waiting.acquire(key, { timeout: 20_000 })
    assert.equal(release.abandoned, true)
    release()
  })

  it('grants a lock after the end of its minHold', async () => {
    const key = randomUUID()
    const waiting = await mutex()
    const leave = await hold(key, hour, { maxHold: 3000, minHold: 2000 })
    await leave()
    await setBack()
    const release = await waiting.acquire(key, { timeout: 20_000 })
    release()
  })

  it('takes nothing from a holder that lives', async () => {
    const key = randomUUID()
    const [mine, theirs] = [await mutex(), await mutex()]
    const release = await mine.acquire(key)
    await setBack()
    await assert.rejects(theirs.acquire(key, { timeout: 7000 }), { code: 'ERR_LOCK_TIMEOUT' })
    assert.equal(release.signal.aborted, false)
    release()
    const next = await theirs.acquire(key, { timeout: 20_000 })
    assert.equal(next.abandoned, false)
    next()
  })
})
