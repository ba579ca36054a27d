'use strict'
// The connection that listens to Redis: it outlives the user's reconnect strategy, and does not
// keep the process alive.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const net = require('node:net')
const { setTimeout: sleep } = require('node:timers/promises')
const { Redis } = require('ioredis')
const { createClient } = require('redis')
const { KeyedMutex } = require('../..')
const { hubOf } = require('../../lib/cluster/engine.js')
const { redis } = require('../../lib/cluster/redis/index.js')
const { useEnds } = require('./helpers/ends.js')
const { glideClient } = require('./helpers/glide.js')
const { freePort, redisServer } = require('./helpers/servers.js')
const { stillTimers } = require('./helpers/still_timers.js')
const { warmUp } = require('./helpers/warm_up.js')
const { run } = require('../helpers/processes.js')

/** Clients that never reconnect. */
const clients = {
  async redis(port) {
    const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: false } })
    client.on('error', () => {}) // its server is stopped
    await client.connect()
    return { client, ask: (words) => client.sendCommand(words), close: () => client.destroy() }
  },
  async ioredis(port) {
    const client = new Redis(port, '127.0.0.1', { retryStrategy: null })
    client.on('error', () => {})
    return {
      client,
      ask: ([name, ...words]) => client.call(name, ...words),
      close: () => client.disconnect(),
    }
  },
  async 'valkey-glide'(port) {
    const client = await glideClient(port)
    return { client, ask: (words) => client.customCommand(words), close: () => client.close() }
  },
}

for (const [name, connect] of Object.entries(clients)) {
  describe(`The connection that listens, by ${name}`, () => {
    let server
    const ends = useEnds()
    before(async () => {
      server = await redisServer()
    })
    after(() => server.close())

    async function mutexOf(options) {
      const { client, ask, close } = await connect(server.port)
      ends.push(close)
      const engine = redis(client, options)
      ends.push(() => engine.close())
      await engine.ready()
      const mutex = new KeyedMutex({ engine })
      await warmUp(mutex)
      return { mutex, engine, ask }
    }

    const cut = (ask) => ask(['CLIENT', 'KILL', 'TYPE', 'pubsub'])

    it('is restored if the strategy of the client gives up, and its turn comes', async () => {
      const [a, b] = [await mutexOf(), await mutexOf()]
      // It does not look by itself.
      stillTimers(b.engine)
      const key = randomUUID()
      for (let i = 0; i < 3; i++) {
        const release = await a.mutex.acquire(key)
        const next = b.mutex.acquire(key)
        await cut(a.ask)
        release()
        ;(await next)()
      }
    })

    it('rejects waiters with the error of the server while it cannot be restored', async () => {
      const { mutex, engine, ask } = await mutexOf()
      const timers = stillTimers(engine)
      const other = await mutexOf()
      const key = randomUUID()
      const release = await other.mutex.acquire(key)
      await ask(['CONFIG', 'SET', 'requirepass', 'secret'])
      try {
        const waiting = mutex.acquire(key)
        await cut(ask)
        while (!/NOAUTH/.test(hubOf(engine).trouble?.message)) await sleep(5)
        timers.fire()
        await assert.rejects(waiting, ({ code, cause }) => {
          assert.equal(code, 'ERR_LOCK_ENGINE')
          assert.match(cause.message, /NOAUTH/)
          return true
        })
      } finally {
        await ask(['CONFIG', 'SET', 'requirepass', ''])
      }
      const next = mutex.acquire(key)
      release()
      ;(await next)()
    })
  })
}

describe('A process that has closed its client ends', () => {
  const connects = {
    redis: `const client = require('redis').createClient({ url: 'redis://127.0.0.1:' + port })
      client.on('error', () => {})
      client.connect().catch(() => {})`,
    ioredis: `const client = new (require('ioredis').Redis)(port)
      client.on('error', () => {})
      client.destroy = client.disconnect`,
    'valkey-glide': `const { GlideClient, Logger } = require('@valkey/valkey-glide')
      Logger.setLoggerConfig('off')
      const addresses = [{ host: '127.0.0.1', port: Number(port) }]
      const client = await GlideClient.createClient({ addresses, lazyConnect: true })
      client.destroy = client.close`,
  }
  const servers = require.resolve('./helpers/servers.js')

  const endOf = (code, env) => {
    const script = `
      const { KeyedMutex } = require('boxoffice')
      const { redis } = require('boxoffice/redis')
      const { redisServer } = require(${JSON.stringify(servers)})
      async function main(port) { ${code} }
      main(process.env.PORT)`
    return run(['-e', script], { env, timeout: 20_000 })
  }

  for (const [name, connect] of Object.entries(connects)) {
    it(`though its server never was up, by ${name}`, async () => {
      const code = `${connect}
        const mutex = new KeyedMutex({ engine: redis(client, { answerTimeout: 500 }) })
        await mutex.acquire('key').catch(({ code }) => console.log(JSON.stringify(code)))
        client.destroy()`
      const { code: status, shown, stderr } = await endOf(code, { PORT: `${await freePort()}` })
      assert.deepEqual(
        { status, shown, stderr },
        { status: 0, shown: ['ERR_LOCK_ENGINE'], stderr: '' },
      )
    })

    it(`though its server is away, by ${name}`, async () => {
      const code = `
        const server = await redisServer()
        port = server.port
        ${connect}
        // On a busy machine, the renewing thread starts slowly.
        const mutex = new KeyedMutex({ engine: redis(client, { answerTimeout: 20_000 }) })
        await mutex.acquire('key')
        await server.close()
        client.destroy()
        console.log(1)`
      const { code: status, shown, stderr } = await endOf(code, {})
      assert.deepEqual({ status, shown, stderr }, { status: 0, shown: [1], stderr: '' })
    })
  }
  // Before ioredis is ready it starts the timer of this option at the end of a connection, even of a destroyed one.
  it('though a silent server has accepted its connections, by ioredis with a disconnectTimeout', async () => {
    const silent = net.createServer((socket) => socket.on('error', () => {}))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const code = `
      const { Redis } = require('ioredis')
      const client = new Redis(port, { lazyConnect: true, disconnectTimeout: 60_000 })
      const mutex = new KeyedMutex({ engine: redis(client, { answerTimeout: 300 }) })
      await mutex.acquire('key').catch(({ code }) => console.log(JSON.stringify(code)))
      client.disconnect()`
    const { code: status, shown, stderr } = await endOf(code, { PORT: `${silent.address().port}` })
    silent.close()
    const expected = { status: 0, shown: ['ERR_LOCK_ENGINE'], stderr: '' }
    assert.deepEqual({ status, shown, stderr }, expected)
  })
})
