'use strict'
// What is special about the clients of @valkey/valkey-glide, which reconnect without a report.
const assert = require('node:assert/strict')
const { KeyedMutex } = require('../..')
const { redisDriver } = require('../../lib/cluster/redis/driver.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { glideClient } = require('./helpers/glide.js')
const { freePort, proxy, redisServer } = require('./helpers/servers.js')
const { stillTimers } = require('./helpers/still_timers.js')
const { warmUp } = require('./helpers/warm_up.js')
const { run } = require('../helpers/processes.js')

describe('A client of valkey-glide', function () {
  this.slow(10_000)
  let server
  const ends = useEnds()
  before(async () => {
    server = await redisServer()
  })
  after(() => server.close())

  async function clientAt(port, options) {
    const client = await glideClient(port, { lazyConnect: true, ...options })
    ends.push(() => client.close())
    return client
  }

  async function mutexAt(port) {
    const engine = redis(await clientAt(port))
    ends.push(() => engine.close())
    const mutex = new KeyedMutex({ engine })
    await warmUp(mutex)
    return { mutex, engine }
  }

  it('asks again after it reconnected, as the message of its grant may be lost', async function () {
    this.timeout(20_000)
    const way = await proxy(server.port)
    ends.push(() => way.close())
    const asking = await clientAt(server.port)
    const ask = (...words) => asking.customCommand(words)
    const isQueued = async () => (await ask('KEYS', '*:l:*')).length > 0
    const listeners = async () =>
      (await ask('CLIENT', 'LIST', 'TYPE', 'pubsub')).split('\n').length - 1
    const [holder, waiter] = [await mutexAt(server.port), await mutexAt(way.port)]
    // It does not look by itself.
    stillTimers(waiter.engine)
    const release = await holder.mutex.acquire('key')
    const next = waiter.mutex.acquire('key')
    while (!(await isQueued()));
    way.lead(await freePort())
    while ((await listeners()) > 1);
    release()
    while (await isQueued());
    way.lead(server.port)
    ;(await next)()
  })

  it('connects the renewing thread without options that do not affect how', async () => {
    const credentials = { username: 'box', password: 'office' }
    const others = { requestTimeout: 5, readFrom: 'preferReplica', connectionBackoff: {} }
    const client = await clientAt(server.port, { ...credentials, databaseId: 1, ...others })
    assert.deepEqual(redisDriver(client).keeper.data.client, {
      module: '@valkey/valkey-glide',
      isCluster: false,
      options: {
        addresses: [{ host: '127.0.0.1', port: server.port }],
        credentials,
        databaseId: 1,
      },
    })
  })

  it('keeps the logger of the process, whatever the renewing thread does', async () => {
    const script = `
      const { GlideClient, Logger } = require('@valkey/valkey-glide')
      const { KeyedMutex } = require('boxoffice')
      const { redis } = require('boxoffice/redis')
      async function main() {
        Logger.setLoggerConfig('off')
        const addresses = [{ host: '127.0.0.1', port: ${server.port} }]
        const client = await GlideClient.createClient({ addresses })
        await new KeyedMutex({ engine: redis(client) }).acquire('logged')
        // The package logs a warning.
        await client.customCommand(['EVALSHA', '0'.repeat(40), '0']).catch(() => console.log(1))
        client.close()
      }
      main()`
    const { shown } = await run(['-e', script])
    assert.deepEqual(shown, [1])
  })

  it('is refused if it has options that cannot go to the thread, unless there is a connection', async () => {
    const client = await clientAt(server.port, { addressResolver: (host, port) => [host, port] })
    assert.throws(() => redis(client), {
      name: 'TypeError',
      message: /the option addressResolver is a function, and cannot go to the thread/,
    })
    const connection = { addresses: [{ host: '127.0.0.1', port: server.port }] }
    const { options } = redisDriver(client, { connection }).keeper.data.client
    assert.deepEqual(options, connection)
  })

  it('is refused if it is older than 2.3, and cannot subscribe to more channels', () => {
    assert.throws(() => redis({ customCommand() {}, getPubSubMessage() {} }), {
      name: 'TypeError',
      message: /valkey-glide 2\.3 or later/,
    })
  })
})
