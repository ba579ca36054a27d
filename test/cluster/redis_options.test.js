'use strict'
// The client options with which the renewing thread connects. No server is needed.
const assert = require('node:assert/strict')
const tls = require('node:tls')
const { Cluster, Redis } = require('ioredis')
const { createClient, createCluster } = require('redis')
const { redis } = require('../../lib/cluster/redis/index.js')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')

const lazily = { lazyConnect: true }
const nodes = [{ host: '127.0.0.1', port: 1 }]
const noop = () => {}
const provider = { type: 'async-credentials-provider', credentials: async () => ({}) }

/** The options that the thread gets. */
const options = (client, more) => redisDriver(client, more).keeper.data.client.options

describe('The options of a client of Redis', () => {
  it('go to the renewing thread with the password, not with the provider made of it', () => {
    const login = { username: 'box', password: 'office' }
    const cluster = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }], defaults: login })
    assert.deepEqual(options(cluster).defaults, login)
    for (const one of [login, { password: 'office' }, { url: 'redis://box:office@127.0.0.1:1' }]) {
      const { password, credentialsProvider } = options(createClient(one))
      assert.deepEqual([password, credentialsProvider], ['office', undefined])
    }
    for (const client of [new Redis({ ...lazily, ...login }), createClient(login)]) {
      const { username, password } = options(client)
      assert.deepEqual({ username, password }, login)
    }
  })

  it('go there without options that do not affect its connection', () => {
    const key = Buffer.from('key')
    const own = createClient({
      socket: { reconnectStrategy: noop, key },
      scripts: { add: { parseCommand: noop } },
      commandOptions: { typeMapping: { 36: Buffer } },
    })
    assert.deepEqual(options(own).socket, { key })
    const strategies = { retryStrategy: noop, reconnectOnError: noop, sentinelRetryStrategy: noop }
    assert.equal(options(new Redis({ ...lazily, ...strategies })).retryStrategy, undefined)
    // The thread sends its first command before it is connected.
    const online = new Redis({ ...lazily, enableOfflineQueue: false })
    assert.equal(options(online).enableOfflineQueue, undefined)
    const cluster = new Cluster(nodes, { ...lazily, scaleReads: noop, clusterRetryStrategy: noop })
    assert.equal(options(cluster).clusterRetryStrategy, undefined)
  })

  const refused = {
    'credentialsProvider.credentials is a function': createClient({
      credentialsProvider: provider,
    }),
    'socket.checkServerIdentity is a function': createClient({
      socket: { tls: true, checkServerIdentity: noop },
    }),
    'socket.secureContext is an object of class SecureContext': createClient({
      socket: { tls: true, secureContext: tls.createSecureContext() },
    }),
    'socket is an object of class Configuration': createClient({
      socket: new (class Configuration {})(),
    }),
    'rootNodes[0].credentialsProvider.credentials is a function': createCluster({
      rootNodes: [{ socket: { port: 1 }, credentialsProvider: provider }],
    }),
    'nodeAddressMap is a function': createCluster({ rootNodes: [], nodeAddressMap: noop }),
    'tls.checkServerIdentity is a function': new Redis({
      ...lazily,
      tls: { checkServerIdentity: noop },
    }),
    'Connector is a function': new Redis({ ...lazily, Connector: class {} }),
    'dnsLookup is a function': new Cluster(nodes, { ...lazily, dnsLookup: noop }),
    'natMap is a function': new Cluster(nodes, { ...lazily, natMap: noop }),
  }
  for (const [what, client] of Object.entries(refused)) {
    it(`are refused if ${what}, unless there is a connection`, () => {
      const connection = { host: '127.0.0.1' }
      assert.throws(
        () => redis(client),
        ({ name, message }) => {
          assert.equal(name, 'TypeError')
          assert.ok(message.startsWith(`the option ${what}, and cannot go to the thread`), message)
          return message.includes('redis(client, { connection })')
        },
      )
      assert.deepEqual(options(client, { connection }), connection)
    })
  }

  it('are refused if the connection itself has functions', () => {
    const connection = { credentialsProvider: provider }
    assert.throws(() => redis(createClient(), { connection }), {
      name: 'TypeError',
      message: /credentialsProvider\.credentials is a function/,
    })
  })
})
