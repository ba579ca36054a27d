'use strict'
// Redis servers that require a password, restrict rights, or speak TLS.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { createClient, createCluster } = require('redis')
const { KeyedMutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { rightsOf } = require('../../lib/cluster/redis/rights.js')
const { configurationOf } = require('./helpers/glide.js')
const { clusterOfOne } = require('./helpers/redis_cluster.js')
const {
  askable,
  clients,
  clusterClients,
  serverWithTls,
  serverWithUsers,
} = require('./helpers/redis_access.js')

/** In ms: on a busy machine, the renewing thread starts slowly. */
const answerTimeout = 30_000

/** Two engines of the client hand a lock over, by a message of the server. */
async function locks(client, options) {
  const engines = [1, 2].map(() => redis(client, { answerTimeout, ...options }))
  const [a, b] = engines.map((engine) => new KeyedMutex({ engine }))
  try {
    const release = await a.acquire('key')
    const next = b.acquire('key')
    release()
    ;(await next)()
  } finally {
    await Promise.all(engines.map((engine) => engine.close()))
  }
}

/** The error of a caller that waits for a lock of the client, once the engine knows the reason. */
async function refusal(client, options) {
  const engine = redis(client, { answerTimeout: 1000, ...options })
  const mutex = new KeyedMutex({ engine })
  try {
    for (;;) {
      const error = await mutex.acquire('key').catch((reason) => reason)
      assert.equal(error.code, 'ERR_LOCK_ENGINE')
      // On a busy machine, a new thread may not have been rejected yet, or have had no time for a handshake.
      const { cause } = error
      if (cause !== undefined && !/timed out/.test(cause.message)) return error
    }
  } finally {
    await engine.close().catch(() => {}) // the session expires if the command to end it is refused as well
  }
}

const usingOf = (connect) => async (options, use) => {
  const { client, close } = await connect(options)
  try {
    return await use(client)
  } finally {
    close()
  }
}

for (const [name, connect] of Object.entries(clients)) {
  const using = usingOf(connect)

  describe(`A server that requires a password, by ${name}`, function () {
    this.timeout(60_000)
    let server
    before(async () => {
      server = await askable(['--requirepass', 'secret'], { password: 'secret' })
    })
    after(() => server.close())

    it('grants to a client with a password in its options', () =>
      using({ port: server.port, password: 'secret' }, (client) => locks(client)))

    it('grants to a client with a user name and a password', () =>
      using({ port: server.port, username: 'default', password: 'secret' }, (client) =>
        locks(client),
      ))

    it('rejects with the error of a password that is wrong for the renewing thread', () =>
      using({ port: server.port, password: 'secret' }, async (client) => {
        const address = { host: '127.0.0.1', port: server.port }
        const wrong = {
          redis: { socket: address, password: 'wrong' },
          ioredis: { ...address, password: 'wrong' },
          'valkey-glide': configurationOf(server.port, { password: 'wrong' }),
        }
        const { message, cause } = await refusal(client, { connection: wrong[name] })
        assert.match(cause.message, /WRONGPASS/)
        assert.ok(message.includes(cause.message), message)
      }))
  })

  describe(`A server with users, by ${name}`, function () {
    this.timeout(60_000)
    let server
    before(async () => {
      server = await serverWithUsers()
    })
    after(() => server.close())

    /** ioredis and valkey-glide run `info` before they are ready. */
    const needed = rightsOf(['{boxoffice:0}'], false)
    const rights = `${needed} +info`
    const asUser = (user, use) => using({ port: server.port, username: user, password: user }, use)

    it('grants to a user with the documented rights', async () => {
      const guide = readFileSync(join(__dirname, '../../docs/redis.md'), 'utf8')
      assert.ok(guide.includes(`\n${needed}\n`))
      await server.add('enough', rights)
      await server.ask('SCRIPT', 'FLUSH')
      await asUser('enough', (client) => locks(client))
    })

    it('names the right that the user lacks', async () => {
      const some = ['~{boxoffice:0}*', '&{boxoffice:0}:to:*', '+subscribe', '+set', '+evalsha']
      const lacking = [...some, '+hmget', '+hset'].map(async (right, i) => {
        await server.add(`lacking${i}`, rights.replace(`${right} `, ''))
        const { message, cause } = await asUser(`lacking${i}`, (client) => refusal(client))
        assert.ok(message.includes(` ${right} `), `${right}: ${message}`)
        assert.match(cause.cause.message, /NOPERM|user executing the script can't/, right)
      })
      await Promise.all(lacking)
    })

    it('names the right that a waiting user lacks', async () => {
      await server.add('holder', rights)
      await server.add('waiter', rights.replace('+rpush ', ''))
      await asUser('holder', async (holding) => {
        const engine = redis(holding, { answerTimeout })
        const release = await new KeyedMutex({ engine }).acquire('key')
        const { message } = await asUser('waiter', (client) => refusal(client))
        assert.ok(message.includes(' +rpush '), message)
        release()
        await engine.close()
      })
    })

    it('rejects with the error of a password changed after the client had connected', async () => {
      await server.add('changed', rights)
      await asUser('changed', async (client) => {
        await server.ask('ACL', 'SETUSER', 'changed', 'resetpass', '>another')
        const { cause } = await refusal(client)
        assert.match(cause.message, /WRONGPASS/)
      })
    })

    it('reports why a lease is lost if the renewing thread cannot log in again', async () => {
      await server.add('lost', rights)
      await asUser('lost', async (client) => {
        const engine = redis(client, { ttl: 3000, answerTimeout })
        const release = await new KeyedMutex({ engine }).acquire('key')
        await server.ask('ACL', 'SETUSER', 'lost', 'resetpass', '>another')
        await server.ask('CLIENT', 'KILL', 'USER', 'lost')
        if (!release.signal.aborted) await once(release.signal, 'abort')
        const { code, cause } = release.signal.reason
        assert.equal(code, 'ERR_LOCK_LOST')
        assert.match(`${cause.cause?.message} ${cause.message}`, /WRONGPASS/)
        await engine.close()
      })
    })
  })
  describe(`A server that speaks TLS, by ${name}`, function () {
    this.timeout(60_000)
    let server
    before(async () => {
      server = await serverWithTls('--requirepass', 'secret')
    })
    after(() => server.close())

    const overTls = (use) => {
      const { tlsPort: port, ca } = server
      return using({ port, password: 'secret', tls: { ca } }, use)
    }

    it('grants to a client that trusts its certificate', () => overTls((client) => locks(client)))

    it('rejects with the error of a certificate that the renewing thread does not trust', () =>
      overTls(async (client) => {
        const address = { host: '127.0.0.1', port: server.tlsPort }
        const untrusting = {
          redis: { password: 'secret', socket: { ...address, tls: true } },
          ioredis: { password: 'secret', ...address, tls: {} },
          'valkey-glide': {
            ...configurationOf(address.port, { password: 'secret' }),
            useTLS: true,
          },
        }
        const { cause } = await refusal(client, { connection: untrusting[name] })
        assert.match(`${cause.code} ${cause.message}`, /SELF_SIGNED_CERT_IN_CHAIN|UnknownIssuer/)
      }))
  })
}

for (const [name, connect] of Object.entries(clusterClients)) {
  describe(`A cluster that requires a password, by ${name}`, function () {
    this.timeout(60_000)
    let node
    before(async () => {
      node = await clusterOfOne()
      const bases = [0, 1, 2].map((shard) => `{boxoffice:${shard}}`)
      const rights = `${rightsOf(bases, true)} +info`.split(' ')
      await node.ask('ACL', 'SETUSER', 'enough', 'on', '>secret', ...rights)
      await node.ask('CONFIG', 'SET', 'requirepass', 'secret')
    })
    after(() => node.close())

    const using = usingOf(connect)

    it('grants to a client with a password in its options', () =>
      using({ port: node.port, password: 'secret' }, (client) => locks(client, { shards: 3 })))

    it('grants to a user with the documented rights', () =>
      using({ port: node.port, username: 'enough', password: 'secret' }, (client) =>
        locks(client, { shards: 3 }),
      ))

    it('rejects with the error of a password that is wrong for the renewing thread', () =>
      using({ port: node.port, password: 'secret' }, async (client) => {
        const address = { host: '127.0.0.1', port: node.port }
        const connection = {
          redis: { rootNodes: [{ socket: address }], defaults: { password: 'wrong' } },
          ioredis: { redisOptions: { password: 'wrong' } },
          'valkey-glide': configurationOf(node.port, { password: 'wrong' }),
        }
        const { cause } = await refusal(client, { connection: connection[name] })
        assert.match(cause.message, /WRONGPASS/)
      }))
  })
}

describe('A client of node-redis that was never connected', () => {
  it('gets an error that names client.connect(), though the server is up', async () => {
    const node = await clusterOfOne()
    const url = `redis://127.0.0.1:${node.port}`
    for (const client of [createClient({ url }), createCluster({ rootNodes: [{ url }] })]) {
      const { message, cause } = await refusal(client)
      assert.match(cause.message, /call client\.connect\(\) first/)
      assert.ok(message.includes(cause.message), message)
    }
    await node.close()
  })
})
