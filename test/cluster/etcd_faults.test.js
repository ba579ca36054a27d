'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { rmSync } = require('node:fs')
const { join } = require('node:path')
const { KeyedMutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { useEnds } = require('./helpers/ends.js')
const { faults } = require('./helpers/faults.js')
const { connect } = require('./helpers/etcd_connect.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { warmUp } = require('./helpers/warm_up.js')

describe('Faults, with etcd', function () {
  this.timeout(60_000)
  this.slow(10_000)
  faults(etcdServer, require.resolve('./helpers/etcd_connect.js'))

  describe('of its data', () => {
    let server
    const ends = useEnds()
    beforeEach(async () => {
      server = await etcdServer()
      ends.push(() => server.close())
    })

    async function engineOf(ttl) {
      const { driver, close, client } = await connect(server.port)
      const engine = new Engine(driver(), { ttl })
      ends.push(async () => {
        await engine.close().catch(() => {})
        await close()
      })
      const mutex = new KeyedMutex({ engine })
      await warmUp(mutex)
      return { engine, mutex, client }
    }

    async function loseAll() {
      await server.stop()
      rmSync(join(server.directory, 'data'), { recursive: true })
      await server.start()
    }

    it('tells the holder of their loss, and gives higher tokens afterwards', async () => {
      const { mutex } = await engineOf(1500)
      const release = await mutex.acquire('k')
      const isLost = once(release.signal, 'abort')
      await loseAll()
      const other = await engineOf(1500)
      const next = await other.mutex.acquire('k', { timeout: 20_000 })
      assert.ok(next.fencingToken > release.fencingToken)
      await isLost
      assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
    })

    it('a late release frees no lock of the same revision that was granted after their loss', async () => {
      const one = await engineOf(60_000)
      const key = Buffer.from('any')
      const put = async ({ kv }) => Number((await kv.put({ key, value: key })).header.revision)
      // Tokens above other revisions than those after the loss.
      while ((await put(one.client)) < 30);
      await one.mutex.acquire('k')
      const revision = (await put(one.client)) - 1
      await loseAll()
      const two = await engineOf(60_000)
      while ((await put(two.client)) < revision - 1);
      const release = await two.mutex.acquire('k')
      assert.equal(await put(two.client), revision + 1)
      await one.engine.close()
      const three = await engineOf(60_000)
      assert.equal(await three.mutex.acquire('k', { ifAvailable: true }), undefined)
      release()
    })
  })
})
