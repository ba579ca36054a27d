'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { KeyedMutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { useEnds } = require('./helpers/ends.js')
const { faults } = require('./helpers/faults.js')
const { assertOver, knownSession } = require('./helpers/known_ends.js')
const { connect } = require('./helpers/postgres_connect.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { proxy } = require('./helpers/servers.js')
const { warmUp } = require('./helpers/warm_up.js')

describe('Faults, with PostgreSQL', function () {
  this.timeout(60_000)
  this.slow(10_000)
  faults(postgresServer, require.resolve('./helpers/postgres_connect.js'))

  describe('of its memory', () => {
    let server
    const ends = useEnds()
    before(async () => {
      server = await postgresServer()
    })
    after(() => server.close())

    async function mutexAt(port, ttl = 1500, outside = undefined) {
      const { driver, close } = await connect(port)
      const engine = new Engine(driver(), { ttl }, outside)
      // Its connection to the server may still be stalled.
      ends.push(async () => {
        await engine.close().catch(() => {})
        await close()
      })
      const mutex = new KeyedMutex({ engine })
      await warmUp(mutex)
      return mutex
    }

    it('a crash that empties it admits no waiter before the holder has given up', async () => {
      const way = await proxy(server.port)
      const { outside, sessionEnd } = knownSession()
      const a = await mutexAt(way.port, undefined, outside)
      ends.push(() => way.close())
      const release = await a.acquire('k')
      const { signal } = release
      // It does not learn of the crash, and has only its own clock.
      way.stall()
      await server.stop()
      await server.start()
      const b = await mutexAt(server.port)
      const next = await b.acquire('k', { timeout: 20_000 })
      await assertOver(signal, sessionEnd())
      assert.ok(next.fencingToken > release.fencingToken)
      next()
    })

    it('a holder is told of a crash that empties it', async () => {
      // It grants nothing for so long, also while this process stalls.
      const a = await mutexAt(server.port, 8000)
      const release = await a.acquire('k')
      const isLost = once(release.signal, 'abort')
      await server.stop()
      await server.start()
      await isLost
      assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
      release()
      const message =
        /: PostgreSQL has lost its locks in a crash or a failover, and grants none until/
      const late = { code: 'ERR_LOCK_TIMEOUT', message }
      await assert.rejects(a.acquire('k', { timeout: 0 }), late)
      await assert.rejects(a.acquire(['k', 'l'], { timeout: 1500 }), late)
      ;(await a.acquire('k', { timeout: 20_000 }))()
    })

    it('a restart of the server loses no lock', async () => {
      // Longer than a restart takes.
      const ttl = 8000
      const [a, b] = [await mutexAt(server.port, ttl), await mutexAt(server.port, ttl)]
      const release = await a.acquire('k')
      await server.stop('fast')
      await server.start()
      await assert.rejects(b.acquire('k', { timeout: 1.1 * ttl }), { code: 'ERR_LOCK_TIMEOUT' })
      assert.equal(release.signal.aborted, false)
      const next = b.acquire('k', { timeout: 20_000 })
      release()
      ;(await next)()
    })
  })
})
