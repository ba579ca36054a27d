'use strict'
// The connections, the thread and the timers of an engine keep no AsyncLocalStorage store of the first caller.
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')

/** Each makes `engine` over a client that has been used, and end() for the client. */
const engines = {
  redis: `
    const client = require('redis').createClient({ url })
    await client.connect()
    const engine = require('boxoffice/redis').redis(client)
    const end = () => client.destroy()`,
  ioredis: `
    const client = new (require('ioredis').Redis)(url)
    await client.ping()
    const engine = require('boxoffice/redis').redis(client)
    const end = () => client.disconnect()`,
  postgres: `
    const client = new (require('pg').Pool)({ connectionString: url })
    const engine = require('boxoffice/postgres').postgres(client)
    const end = () => client.end()`,
  etcd: `
    const client = new (require('etcd3').Etcd3)({ hosts: url })
    const engine = require('boxoffice/etcd').etcd(client)
    const end = () => client.close()`,
}

describe('An engine keeps no AsyncLocalStorage store', function () {
  this.timeout(60_000)
  const urls = {}
  const servers = []
  before(async () => {
    const [redis, postgres, etcd] = [
      await redisServer(),
      await postgresServer(),
      await etcdServer(),
    ]
    servers.push(redis, postgres, etcd)
    urls.redis = `redis://127.0.0.1:${redis.port}`
    urls.ioredis = urls.redis
    urls.postgres = postgres.url
    urls.etcd = `127.0.0.1:${etcd.port}`
  })
  after(async () => {
    for (const server of servers) await server.close()
  })

  for (const name of ['redis', 'postgres', 'etcd']) {
    it(`of the code that loads it: ${name}`, async () => {
      const [isKept] = await inChild(
        `const { AsyncLocalStorage } = require('node:async_hooks')
         require('node:dns') // Keeps the stores of the code that loads it. Every client has loaded it.
         const storage = new AsyncLocalStorage()
         const load = () => {
           const store = {}
           storage.run(store, () => require('boxoffice/${name}'))
           return new WeakRef(store)
         }
         const store = load()
         await new Promise(setImmediate)
         await collect()
         show(store.deref() !== undefined)`,
        '--expose-gc',
      )
      assert.equal(isKept, false)
    })
  }

  for (const [name, make] of Object.entries(engines)) {
    it(`of its first caller: ${name}`, async () => {
      const [isKept] = await inChild(
        `const url = ${JSON.stringify(urls[name])}
         const { AsyncLocalStorage } = require('node:async_hooks')
         ${make}
         const storage = new AsyncLocalStorage()
         const held = new Mutex({ engine, name: 'held' })
         let release
         // No promise of these calls stays referenced: Node.js 20 keeps the store in each.
         const first = async () => {
           const store = {}
           release = await storage.run(store, () => held.acquire())
           return new WeakRef(store)
         }
         const store = await first()
         await new Promise(setImmediate)
         await collect()
         show(store.deref() !== undefined)
         release()
         await engine.close()
         await end()`,
        '--expose-gc',
      )
      assert.equal(isKept, false)
    })
  }
})
