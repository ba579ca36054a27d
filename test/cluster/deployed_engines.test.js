'use strict'
// A deployment that replaces the package in place, by another version, while a program has engines without a lock yet.
const assert = require('node:assert/strict')
const { cpSync, mkdtempSync, rmSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { etcdServer } = require('./helpers/etcd_server.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')
const { run } = require('../helpers/processes.js')

const root = path.join(__dirname, '..', '..')
const binary = path.resolve(
  process.env.BOXOFFICE_BINARY || path.join(root, 'build', 'release', 'boxoffice.node'),
)

/** Each makes a client of the server at `port` or `url`, and an engine over it. */
const engines = {
  redis: `
    const { createClient } = require('redis')
    const client = createClient({ socket: { port } })
    await client.connect()
    return [from('redis').redis(client), () => client.destroy()]`,
  ioredis: `
    const { Redis } = require('ioredis')
    const client = new Redis({ port })
    return [from('redis').redis(client), () => client.disconnect()]`,
  'redis, by a client package in the thread': `
    const { createClient } = require('redis')
    const client = createClient({ socket: { port } })
    await client.connect()
    const engine = from('redis').redis(client, { connection: { socket: { port } } })
    return [engine, () => client.destroy()]`,
  'valkey-glide': `
    const { GlideClient, Logger } = require('@valkey/valkey-glide')
    Logger.setLoggerConfig('off')
    const client = await GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }] })
    return [from('redis').redis(client), () => client.close()]`,
  postgres: `
    const { Pool } = require('pg')
    const pool = new Pool({ connectionString: url })
    return [from('postgres').postgres(pool), () => pool.end()]`,
  etcd: `
    const { Etcd3 } = require('etcd3')
    const client = new Etcd3({ hosts: '127.0.0.1:' + port })
    return [from('etcd').etcd(client), () => client.close()]`,
}

describe('After the package has been replaced while a program runs', function () {
  this.timeout(60_000)
  const servers = {}
  before(async () => {
    servers.redis = await redisServer()
    servers.postgres = await postgresServer()
    servers.etcd = await etcdServer()
  })
  after(async () => {
    for (const server of Object.values(servers)) await server.close()
  })

  for (const [name, make] of Object.entries(engines)) {
    it(`the first lock of an engine is granted: ${name}`, async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-deployed-'))
      const copy = path.join(folder, 'package')
      for (const entry of ['lib', 'package.json'])
        cpSync(path.join(root, entry), path.join(copy, entry), { recursive: true })
      symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
      cpSync(binary, path.join(copy, 'build', 'release', 'boxoffice.node'))
      const { port, url } = servers[name] ?? servers.redis
      try {
        const { code, stderr } = await run([
          '-e',
          `const { readdirSync, writeFileSync } = require('node:fs')
          const path = require('node:path')
          const copy = ${JSON.stringify(copy)}
          const [port, url] = ${JSON.stringify([port, url])}
          const require_ = require('node:module').createRequire(copy + '/index.js')
          const from = (name) => require_(copy + '/lib/cluster/' + name + '/index.js')
          async function connect(require) { ${make} }
          async function main() {
            const { Mutex } = require(copy)
            const [engine, end] = await connect(require_)
            const mutex = new Mutex({ engine, name: 'a' })
            const lib = path.join(copy, 'lib')
            for (const file of readdirSync(lib, { recursive: true }))
              if (file.endsWith('.js')) writeFileSync(path.join(lib, file), "throw new Error('another version')")
            ;(await mutex.acquire())()
            await mutex.close()
            await engine.close()
            await end()
          }
          main().catch((error) => { console.error(error); process.exit(1) })`,
        ])
        assert.equal(code, 0, stderr)
      } finally {
        rmSync(folder, { recursive: true })
      }
    })
  }
})
