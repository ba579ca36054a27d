'use strict'
// The folders of examples/ that need a server, with one of the tests' own.
const assert = require('node:assert/strict')
const { checkOutput, withCopy } = require('../helpers/example_folders.js')
const { postgresServer } = require('../cluster/helpers/postgres_server.js')
const { redisServer } = require('../cluster/helpers/servers.js')

/** With time for a busy machine to start processes and threads. */
function patient(code) {
  const changed = code
    .replace('timeout: 10_000', 'timeout: 40_000')
    .replace('redis(client)', 'redis(client, { answerTimeout: 30_000 })')
    .replace('postgres(pool)', 'postgres(pool, { answerTimeout: 30_000 })')
  assert.match(changed, /, \{ answerTimeout: 30_000 \}\)[\s\S]*timeout: 40_000/)
  return changed
}

describe('the examples that need a server', function () {
  this.timeout(60_000)

  const check = (name, client, env) =>
    withCopy(name, [client], (folder) => checkOutput(name, env, folder), patient)

  it('print what the README says: redis', async () => {
    const server = await redisServer()
    try {
      await check('redis', 'redis', { REDIS_URL: `redis://127.0.0.1:${server.port}` })
    } finally {
      await server.close()
    }
  })

  it('print what the README says: postgres', async () => {
    const server = await postgresServer()
    try {
      await check('postgres', 'pg', { DATABASE_URL: server.url })
    } finally {
      await server.close()
    }
  })
})
