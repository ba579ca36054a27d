'use strict'
// More commands at once than the engine has connections.
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { Pool } = require('pg')
const { KeyedMutex } = require('../..')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { useEnds } = require('./helpers/ends.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { proxy } = require('./helpers/servers.js')
const { stableAddress } = require('./helpers/stable_address.js')
const { warmUp } = require('./helpers/warm_up.js')

describe('Many keys at once over PostgreSQL', function () {
  this.timeout(60_000)
  this.slow(20_000)
  let server
  const ends = useEnds()
  before(async () => {
    server = await postgresServer()
  })
  after(() => server.close())

  async function mutexAt(port, options) {
    const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
    pool.on('error', () => {}) // its server falls silent
    const engine = postgres(pool, options)
    ends.push(async () => {
      await engine.close()
      await pool.end()
    })
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    return mutex
  }

  it('wait for the connections of this process, and do not blame the server', async () => {
    const between = await stableAddress(server.port)
    ends.push(() => between.close())
    const mutex = await mutexAt(between.port, { answerTimeout: 3000, ttl: 20_000 })
    // Four connections: 40 commands in a second.
    between.slow(100)
    const all = Array.from({ length: 200 }, (_, i) => mutex.acquire(`key ${i}`))
    await Promise.any(all)
    const late = mutex.acquire('late', { timeout: 500 }).catch((error) => error)
    const { code, message } = await late
    assert.equal(code, 'ERR_LOCK_TIMEOUT', message)
    await Promise.all(all)
    between.slow(0)
    for (const releasing of all) (await releasing)()
    await mutex.onIdle()
  })

  it('do not delay a waiter that a message grants its lock', async () => {
    const between = await stableAddress(server.port)
    ends.push(() => between.close())
    const busy = await mutexAt(between.port)
    const [holder, rival] = [await mutexAt(server.port), await mutexAt(server.port)]
    const release = await holder.acquire('x')
    const waiting = busy.acquire('x')
    await sleep(200)
    const next = rival.acquire('x')
    // Four connections: 400 commands take three seconds, and a grant that is not confirmed ends after one.
    between.slow(30)
    const all = Array.from({ length: 400 }, (_, i) => busy.acquire(`other ${i}`))
    await sleep(100)
    release()
    const first = await Promise.race([waiting.then(() => 'busy'), next.then(() => 'rival')])
    assert.equal(first, 'busy')
    ;(await waiting)()
    const { abandoned, release: end } = await next
    assert.equal(abandoned, false)
    end()
    await Promise.all(all)
    between.slow(0)
    for (const one of all) (await one)()
    await busy.onIdle()
  })

  it('are rejected together when the server falls silent', async () => {
    const between = await proxy(server.port)
    ends.push(() => between.close())
    const mutex = await mutexAt(between.port, { answerTimeout: 1000, ttl: 20_000 })
    between.stall()
    const start = performance.now()
    const all = Array.from({ length: 400 }, (_, i) => mutex.acquire(`silent ${i}`))
    for (const { reason } of await Promise.allSettled(all)) {
      assert.equal(reason.code, 'ERR_LOCK_ENGINE')
    }
    // A second, and not one for each of the commands.
    assert.ok(performance.now() - start < 10_000)
    between.flow()
    await mutex.onIdle()
  })
})
