'use strict'
// engine.ready() over real servers, by each client: what it opens, and what it rejects with.
const assert = require('node:assert/strict')
const { Etcd3 } = require('etcd3')
const { Pool } = require('pg')
const { Mutex } = require('../..')
const { etcd } = require('../../lib/cluster/etcd/index.js')
const { postgres } = require('../../lib/cluster/postgres/index.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { configurationOf } = require('./helpers/glide.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { askable, clients } = require('./helpers/redis_access.js')
const { freePort } = require('./helpers/servers.js')

const password = 'secret'

describe('engine.ready()', function () {
  this.timeout(60_000)
  const ends = useEnds()

  async function grants(engine) {
    ends.push(() => engine.close())
    await engine.ready()
    // The session is open, and so is the connection of the commands.
    const release = await new Mutex({ engine, name: 'a' }).acquire({ timeout: 20_000 })
    release()
  }

  /** Without a server, or with one that refuses the thread. */
  async function refuses(engine, reason) {
    ends.push(() => engine.close())
    await assert.rejects(engine.ready(), (error) => {
      assert.equal(error.code, 'ERR_LOCK_ENGINE')
      assert.match(error.cause.message, reason)
      assert.match(error.message, /^the session with .* could not be opened: /)
      assert.ok(error.message.includes(error.cause.message), error.message)
      return true
    })
  }

  for (const [name, connect] of Object.entries(clients)) {
    describe(`by ${name}`, () => {
      let server
      before(async () => {
        server = await askable(['--requirepass', password], { password })
      })
      after(() => server.close())

      async function connected() {
        const { client, close } = await connect({ port: server.port, password })
        ends.push(close)
        return client
      }
      const connectionOf = (port, login) => {
        const address = { host: '127.0.0.1', port }
        const all = {
          redis: { socket: address, ...login },
          ioredis: { ...address, ...login },
          'valkey-glide': configurationOf(port, login),
        }
        return all[name]
      }

      it('resolves when the engine can grant', async () => {
        await grants(redis(await connected()))
      })

      it('rejects with the error of a wrong password', async () => {
        const connection = connectionOf(server.port, { password: 'wrong' })
        await refuses(redis(await connected(), { connection, answerTimeout: 3000 }), /WRONGPASS/)
      })

      it('rejects with the error of a server that is away', async () => {
        const connection = connectionOf(await freePort(), { password })
        const engine = redis(await connected(), { connection, answerTimeout: 3000 })
        await refuses(engine, /ECONNREFUSED|refused|timed out/i)
      })
    })
  }

  describe('by pg', () => {
    let server
    before(async () => {
      server = await postgresServer()
    })
    after(() => server.close())

    function pool(connectionString) {
      const one = new Pool({ connectionString })
      ends.push(() => one.end())
      return one
    }

    it('resolves when the engine can grant', () => grants(postgres(pool(server.url))))

    it('rejects with the error of a user that is unknown', () =>
      refuses(postgres(pool(server.url.replace('postgres@', 'stranger@'))), /role "stranger" does/))

    it('rejects with the error of a server that is away', async () => {
      const port = await freePort()
      await refuses(postgres(pool(`postgres://postgres@127.0.0.1:${port}/none`)), /ECONNREFUSED/)
    })
  })

  describe('by etcd3', () => {
    let server
    before(async () => {
      server = await etcdServer()
    })
    after(() => server.close())

    function client(port) {
      const one = new Etcd3({ hosts: `127.0.0.1:${port}` })
      ends.push(() => one.close())
      return one
    }

    it('resolves when the engine can grant', () => grants(etcd(client(server.port))))

    it('rejects with the error of a server that is away', async () =>
      refuses(etcd(client(await freePort())), /ECONNREFUSED/))
  })
})
