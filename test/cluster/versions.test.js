'use strict'
// Versions of this package whose protocols differ: the later one to come is refused.
const assert = require('node:assert/strict')
const { KeyedMutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { useEnds } = require('./helpers/ends.js')
const etcdConnect = require('./helpers/etcd_connect.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const postgresConnect = require('./helpers/postgres_connect.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const redisConnect = require('./helpers/redis_connect.js')
const { clusterClients, clusterOfOne } = require('./helpers/redis_cluster.js')
const { redisServer } = require('./helpers/servers.js')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')

/** On a busy machine, the renewing thread starts slowly. */
const answerTimeout = 30_000

async function clusterConnect(port) {
  const client = await clusterClients.redis(port)
  return { client, driver: () => redisDriver(client, { shards: 2 }), close: () => client.destroy() }
}

/** By engine: `change` writes another protocol, and `cure` does what the error says. */
const engines = {
  Redis: {
    start: redisServer,
    connect: redisConnect.connect,
    place: '{boxoffice:0} in Redis',
    change: ({ client }) => client.set('{boxoffice:0}:version', '99'),
    async cure({ client }) {
      await client.del(await client.keys('{boxoffice:0}:*'))
    },
  },
  'a Redis Cluster': {
    start: clusterOfOne,
    connect: clusterConnect,
    place: '{boxoffice:1} in Redis',
    change: ({ client }) => client.set('{boxoffice:1}:version', '99'),
    cure: ({ client }) => client.del('{boxoffice:1}:version'),
  },
  PostgreSQL: {
    start: postgresServer,
    connect: postgresConnect.connect,
    place: 'the table "boxoffice"."leases" of PostgreSQL',
    change: ({ pool }) =>
      pool.query("COMMENT ON TABLE boxoffice.leases IS 'boxoffice protocol 99'"),
    cure: ({ pool }, message) => pool.query(/run "(DROP TABLE .* CASCADE)"/.exec(message)[1]),
  },
  etcd: {
    start: etcdServer,
    connect: etcdConnect.connect,
    place: 'boxoffice/ in etcd',
    change: ({ client }) => client.put('boxoffice/version').value('99'),
    async cure({ client }, message) {
      assert.ok(message.includes('run "etcdctl del --prefix boxoffice/"'), message)
      await client.delete().prefix('boxoffice/')
    },
  },
}

for (const [name, { start, connect, place, change, cure }] of Object.entries(engines)) {
  describe(`Versions of different protocols, over ${name}`, function () {
    this.timeout(60_000)
    this.slow(10_000)
    let server
    let connection
    const ends = useEnds()
    beforeEach(async () => {
      server = await start()
      ends.push(() => server.close())
      connection = await connect(server.port)
      ends.push(() => connection.close())
    })

    function mutexOf() {
      const engine = new Engine(connection.driver(), { answerTimeout })
      ends.push(() => engine.close())
      return new KeyedMutex({ engine })
    }

    it('do not mix: the second one is refused until the data of the first one are deleted', async () => {
      await mutexOf().runExclusive('key', () => {})
      await change(connection)
      const refused = mutexOf()
      let message
      await assert.rejects(refused.acquire('key'), (error) => {
        message = error.message
        assert.equal(error.code, 'ERR_LOCK_ENGINE_VERSION')
        assert.ok(
          message.startsWith(`${place} belongs to a version of boxoffice with protocol 99,`),
        )
        return true
      })
      for (const end of ends.splice(2).reverse()) await end()
      await cure(connection, message)
      await mutexOf().runExclusive('key', () => {})
    })
  })
}

describe('A version from before protocols, over etcd', () => {
  it('keeps this version out while its sessions are alive', async function () {
    this.timeout(60_000)
    const server = await etcdServer()
    const { client, driver, close } = await etcdConnect.connect(server.port)
    const engine = new Engine(driver(), { answerTimeout })
    const mutex = new KeyedMutex({ engine })
    await client.put('boxoffice/session/old').value('10000')
    await assert.rejects(mutex.acquire('key'), {
      code: 'ERR_LOCK_ENGINE_VERSION',
      message: /^boxoffice\/ in etcd belongs to a version of boxoffice with protocol 0,/,
    })
    await client.delete().key('boxoffice/session/old')
    await mutex.runExclusive('key', () => {})
    await engine.close()
    await close()
    await server.close()
  })
})
