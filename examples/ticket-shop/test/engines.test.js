'use strict'
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const path = require('node:path')
const { redisServer } = require('../../../test/cluster/helpers/servers.js')
const { blockedFor, measureBlockLoop } = require('../block_loop.js')
const { measure } = require('../measure.js')

describe('the shop over Redis', function () {
  this.timeout(60_000)
  let server
  const { REDIS_URL } = process.env
  before(async () => {
    server = await redisServer()
    process.env.REDIS_URL = `redis://127.0.0.1:${server.port}`
  })
  after(async () => {
    if (REDIS_URL === undefined) delete process.env.REDIS_URL
    else process.env.REDIS_URL = REDIS_URL
    await server.close()
  })

  it('sells each user one ticket through any process', async () => {
    const { DATABASE_URL: databaseUrl } = process.env
    const size = { users: 200, tickets: 400, connections: 20, processes: 3, pause: 0 }
    const row = await measure({ lock: 'redis', ...size, databaseUrl })
    assert.deepEqual(row.problems, [])
    assert.equal(row.sold, 200)
  })

  it('sells no second ticket while the event loop of the holder is blocked', async () => {
    const start = performance.now()
    const { answers, tickets, doubles } = await measureBlockLoop('redis', process.env.DATABASE_URL)
    assert.ok(performance.now() - start >= blockedFor)
    assert.deepEqual({ tickets, doubles }, { tickets: 1, doubles: 0 })
    const [first, second] = answers
    assert.deepEqual(second, { ticket: first.ticket, created: false })
  })

  it('says how to start a server if there is none', async () => {
    const main = path.join(__dirname, '..', 'main.js')
    const env = { ...process.env, REDIS_URL: 'redis://127.0.0.1:1', DATABASE_URL: '' }
    const nowhere = 'postgres://me:secret@127.0.0.1:1/shop'
    for (const [engine, expected, databaseUrl = ''] of [
      ['redis', /no Redis at redis:\/\/127\.0\.0\.1:1 .*redis-server/],
      ['postgres', /DATABASE_URL.*docker run/],
      ['postgres', /no PostgreSQL at 127\.0\.0\.1:1 .*docker run/, nowhere],
      ['redis', /no PostgreSQL at 127\.0\.0\.1:1 .*docker run/, nowhere],
    ]) {
      env.DATABASE_URL = databaseUrl
      const { code, stderr } = await new Promise((resolve) => {
        execFile(process.execPath, [main, '--engine', engine], { env }, (error, _, stderr) =>
          resolve({ code: error?.code, stderr }),
        )
      })
      assert.equal(code, 1)
      assert.match(stderr, expected)
      assert.doesNotMatch(stderr, /^ +at |me:secret/m)
    }
  })
})
