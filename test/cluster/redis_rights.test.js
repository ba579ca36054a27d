'use strict'
// Users who lack the right to one command, and clients that lack one.
const assert = require('node:assert/strict')
const { Cluster, Redis } = require('ioredis')
const { KeyedMutex } = require('../..')
const { redis } = require('../../lib/cluster/redis/index.js')
const { rightsOf } = require('../../lib/cluster/redis/rights.js')
const script = require('../../lib/cluster/redis/script.js')
const { host, serverWithUsers } = require('./helpers/redis_access.js')

describe('A user of Redis who lacks a right', function () {
  this.timeout(60_000)
  this.slow(20_000)
  let server
  before(async () => {
    server = await serverWithUsers()
  })
  after(() => server.close())

  const rights = rightsOf(['{boxoffice:0}'], false)
  /** The commands of the scripts. */
  const commands = new Set(
    [...script.text.matchAll(/redis\.call\('(\w+)'/g)].map(([, name]) => name.toLowerCase()),
  )
  commands.add('publish')

  it('is told before a lock is held', async () => {
    assert.ok(commands.size > 15, `${[...commands]}`)
    for (const name of commands) assert.ok(rights.includes(`+${name}`), name)
    const refusals = [...commands].map(async (name) => {
      const user = `no-${name}`
      await server.add(user, `${rights.replace(new RegExp(`\\+${name}\\b`), '')} +info`)
      const client = new Redis(server.port, host, { username: user, password: user })
      const engine = redis(client, { answerTimeout: 5000 })
      const error = await new KeyedMutex({ engine }).acquire('key').then(
        () => new Error(`${name} is not missed`),
        (reason) => reason,
      )
      assert.match(error.message, /needs the rights ~\{boxoffice:0\}\*/, name)
      assert.equal(error.code, 'ERR_LOCK_ENGINE')
      await engine.close()
      client.disconnect()
    })
    await Promise.all(refusals)
    assert.deepEqual(await server.ask('KEYS', '{boxoffice:0}:k:keyed*'), [])
  })
})

describe('A Cluster of ioredis', () => {
  it('is refused if it cannot listen to the channels of one slot', () => {
    const client = new Cluster([{ host, port: 1 }], { lazyConnect: true })
    // As a version before 5.6.
    delete client.options.shardedSubscribers
    assert.throws(() => redis(client), { name: 'TypeError', message: /use ioredis 5\.6 or later/ })
    client.disconnect()
  })
})
