'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { KeyedMutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { faults } = require('./helpers/faults.js')
const { connect } = require('./helpers/postgres_connect.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { proxy } = require('./helpers/servers.js')
const { calmIt } = require('../helpers/calm.js')

// A session ends by itself where this process stands still.
const it = calmIt(300)

describe('Faults, with PostgreSQL', function () {
  this.timeout(60_000)
  this.slow(10_000)
  faults(postgresServer, require.resolve('./helpers/postgres_connect.js'))

  describe('of its memory', () => {
    let server
    let ends
    before(async () => {
      server = await postgresServer()
    })
    after(() => server.close())
    beforeEach(() => {
      ends = []
    })
    afterEach(async () => {
      for (const end of ends.reverse()) await end()
    })

    async function mutexAt(port, ttl = 1500) {
      const { driver, close } = await connect(port)
      const engine = new Engine(driver(), { ttl })
      // Its way to the server may be stalled still.
      ends.push(async () => {
        await engine.close().catch(() => {})
        await close()
      })
      const mutex = new KeyedMutex({ engine })
      await mutex.runExclusive('warm', () => {})
      return mutex
    }

    it('a crash that empties it lets nobody in before who held has given up', async () => {
      const way = await proxy(server.port)
      const a = await mutexAt(way.port)
      ends.push(() => way.close())
      const release = await a.acquire('k')
      const order = []
      release.signal.addEventListener('abort', () => order.push('lost'))
      // It cannot hear of the crash, and has its own clock only.
      way.stall()
      await server.stop()
      await server.start()
      const b = await mutexAt(server.port)
      const next = await b.acquire('k', { timeout: 20_000 })
      order.push('next')
      assert.deepEqual(order, ['lost', 'next'])
      assert.ok(next.fencingToken > release.fencingToken)
      next()
    })

    it('who held hears of a crash that empties it', async () => {
      const a = await mutexAt(server.port)
      const release = await a.acquire('k')
      const isLost = once(release.signal, 'abort')
      await server.stop()
      await server.start()
      await isLost
      assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
      release()
      ;(await a.acquire('k', { timeout: 20_000 }))()
    })

    it('a server that is started anew costs nobody a lock', async () => {
      // Longer than it takes to start one.
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
