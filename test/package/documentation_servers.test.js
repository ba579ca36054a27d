'use strict'
// The documents whose code needs a server, with servers started by the tests.
const assert = require('node:assert/strict')
const path = require('node:path')
const { documents, knownBlocks, read } = require('../helpers/documents.js')
const { examplesIn, good, root, runExample } = require('../helpers/examples.js')
const { etcdServer } = require('../cluster/helpers/etcd_server.js')
const { postgresServer } = require('../cluster/helpers/postgres_server.js')
const { redisServer } = require('../cluster/helpers/servers.js')

/** Variables that the examples of a file of declarations take as given. */
const given = {
  'lib/cluster/etcd/index.d.ts': '',
  'lib/cluster/redis/index.d.ts': '',
  'lib/cluster/postgres/index.d.ts': `
    const { Pool } = require('pg')
    const { postgres, postgresSchema } = require('boxoffice/postgres')
    const [pool, admin] = [1, 2].map(() => new Pool({ connectionString: process.env.DATABASE_URL }))
    await admin.query(\`CREATE TABLE IF NOT EXISTS seats (id text, owner text);
      DO 'BEGIN CREATE ROLE shop; EXCEPTION WHEN duplicate_object THEN NULL; END'\`)
    const engine = postgres(pool)
    const [client, user] = [await pool.connect(), 'ada']
    await client.query('BEGIN')
    const locks = engine.withTransaction(client)`,
  'lib/cluster/engine.d.ts': `
    const { Engine } = require('boxoffice/engine')
    const { FakeServer } = require(${JSON.stringify(path.join(root, 'test/cluster/helpers/fake_server.js'))})
    const driver = new FakeServer().driver()`,
}

/**
 * Replaces the servers in the text by the tests' own, and leaves a busy machine time to start them.
 */
function here(code) {
  return code
    .replaceAll(/timeout: \d+000\b/g, 'timeout: 20_000')
    .replace("'redis://127.0.0.1:6379'", 'process.env.REDIS_URL')
    .replace("'http://127.0.0.1:2379'", 'process.env.ETCD_URL')
    .replace("'postgres://127.0.0.1/shop'", 'process.env.DATABASE_URL')
}

describe('the documents that need a server', function () {
  this.timeout(60_000)
  const env = {}
  const all = []

  before(async () => {
    const servers = [redisServer(), postgresServer(), etcdServer()]
    const [redis, postgres, etcd] = await Promise.all(servers)
    all.push(redis, postgres, etcd)
    env.REDIS_URL = `redis://127.0.0.1:${redis.port}`
    env.DATABASE_URL = postgres.url
    env.ETCD_URL = `http://127.0.0.1:${etcd.port}`
  })
  after(() => Promise.all(all.map((server) => server.close())))

  for (const { name, blocks, needs } of documents()) {
    if (needs.length === 0) continue
    it(`run: ${name}, ${blocks.length} blocks, with ${needs.join(' and ')}`, async () => {
      const options = { env, exits: true, timeout: 50_000 }
      assert.deepEqual(await runExample(knownBlocks(blocks).map(here), options), good)
    })
  }
  for (const [file, prelude] of Object.entries(given)) {
    for (const { title, codes } of examplesIn(read(file))) {
      it(`run: ${file}, ${title}`, async () => {
        const options = { env, exits: true, timeout: 50_000 }
        assert.deepEqual(await runExample([prelude, ...codes.map(here)], options), good)
      })
    }
  }
})
