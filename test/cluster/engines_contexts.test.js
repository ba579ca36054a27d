'use strict'
// A closed engine keeps no reference to the vm context that evaluated the package and its client,
// as jest evaluates them for each test file.
const assert = require('node:assert/strict')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')
const { inChild } = require('../helpers/children.js')
const { runInContext } = require('../helpers/vm_instances.js')

const count = 5
const helper = require.resolve('../helpers/vm_instances.js')

/** Each has a client that has been used, and an end() for it. */
const clients = {
  redis: {
    engine: 'redis',
    code: `const { createClient } = require('redis')
      const client = createClient({ url })
      await client.connect()
      const end = () => client.destroy()`,
  },
  ioredis: {
    engine: 'redis',
    code: `const { Redis } = require('ioredis')
      const client = new Redis(url)
      await client.ping()
      const end = () => client.disconnect()`,
  },
  'valkey-glide': {
    engine: 'redis',
    code: `const { GlideClient, Logger } = require('@valkey/valkey-glide')
      Logger.setLoggerConfig('off')
      const { hostname: host, port } = new URL(url)
      const client = await GlideClient.createClient({ addresses: [{ host, port: Number(port) }] })
      await client.ping()
      const end = () => client.close()`,
  },
  pg: {
    engine: 'postgres',
    code: `const { Pool } = require('pg')
      const client = new Pool({ connectionString: url })
      await client.query('SELECT 1')
      const end = () => client.end()`,
  },
}

const close = 'await engine.close()\nawait end()'
const uses = {
  'an engine without locks': close,
  'locks, a lock manager and diagnostics': `
    const locks = [
      new all.Mutex({ engine, name: 'a' }),
      new all.Mutex({ engine, name: 'b', diagnostics: true }),
      new all.RWLock({ engine, name: 'c' }),
    ]
    for (const lock of locks)
      await Promise.all([lock.runExclusive(() => {}), lock.runExclusive(() => {})])
    await new all.KeyedSemaphore(2, { engine }).runExclusive('d', () => {})
    await new all.LockManager({ engine }).request('e', () => {})
    await all.snapshot()
    ${close}`,
  'a lock that is held, and waited for, at the end': `
    const lock = new all.Mutex({ engine, name: String(Math.random()) })
    await lock.acquire()
    const waiting = lock.acquire()
    const rejected = waiting.catch(({ code }) => code)
    await engine.close()
    if ((await rejected) !== 'ERR_LOCK_ENGINE') throw await rejected
    await end()`,
  'a lock that is held when the client ends first': `
    await new all.Mutex({ engine, name: String(Math.random()) }).acquire()
    await end()
    // Rejects if the server cannot be told any more.
    await engine.close().catch(() => {})`,
}

describe('a vm context with a closed engine', function () {
  this.timeout(120_000)

  const urls = {}
  const servers = []
  before(async () => {
    const redis = await redisServer()
    servers.push(redis)
    urls.redis = `redis://127.0.0.1:${redis.port}`
    const postgres = await postgresServer()
    servers.push(postgres)
    urls.postgres = postgres.url
  })
  after(async () => {
    for (const server of servers) await server.close()
  })

  for (const [name, { engine, code }] of Object.entries(clients)) {
    const leftAfter = async (use) => {
      const inContext = `const url = ${JSON.stringify(urls[engine])}\n${code}\n${use}`
      const [contexts] = await inChild(
        `const { contextsGone } = require(${JSON.stringify(helper)})
         show(await contextsGone(${JSON.stringify(inContext)}, ${count}))`,
        '--expose-gc',
      )
      return contexts
    }

    it(`is collected with ${name} alone, as the control`, async () => {
      assert.equal(await leftAfter('await end()'), 0)
    })

    for (const [what, use] of Object.entries(uses)) {
      it(`is collected with ${name}, and ${what}`, async () => {
        const all = `const all = require('../lib/index.js')
          const { ${engine} } = require('../lib/cluster/${engine}/index.js')
          // On a busy machine, the renewing thread starts slowly.
          const engine = ${engine}(client, { answerTimeout: 60_000 })`
        assert.equal(await leftAfter(`${all}\n${use}`), 0)
      })
    }
  }
})

describe('a vm context without structuredClone', () => {
  const inContext = (options) =>
    runInContext(`delete globalThis.structuredClone
      const { Pool } = require('pg')
      const { postgres } = require('../lib/cluster/postgres/index.js')
      await postgres(new Pool(${options})).close()`)

  it('makes an engine over PostgreSQL', () => inContext('{}'))

  it('reports which options cannot go to the renewing thread', () =>
    assert.rejects(inContext('{ password: () => "secret" }'), {
      name: 'TypeError',
      message: /cannot have functions in them/,
    }))
})
