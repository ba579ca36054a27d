'use strict'
// The documents whose code needs a server, with one of their own.
const assert = require('node:assert/strict')
const { documents, knownBlocks } = require('./helpers/documents.js')
const { good, runExample } = require('./helpers/examples.js')
const { postgresServer } = require('./engines/postgres_server.js')
const { redisServer } = require('./engines/servers.js')

describe('the documents that need a server', function () {
  this.timeout(60_000)
  const env = {}
  const all = []

  before(async () => {
    const [redis, postgres] = await Promise.all([redisServer(), postgresServer()])
    all.push(redis, postgres)
    env.REDIS_URL = `redis://127.0.0.1:${redis.port}`
    env.DATABASE_URL = postgres.url
  })
  after(() => Promise.all(all.map((server) => server.close())))

  for (const { name, blocks, needs } of documents()) {
    if (needs.length === 0) continue
    it(`run: ${name}, ${blocks.length} blocks, with ${needs.join(' and ')}`, async () => {
      const options = { env, exits: true, timeout: 50_000 }
      assert.deepEqual(await runExample(knownBlocks(blocks), options), good)
    })
  }
})
