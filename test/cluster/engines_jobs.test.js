'use strict'
// Jobs that processes run under a lock with a minHold, over real servers.
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { randomUUID } = require('node:crypto')
const { createInterface } = require('node:readline')
const { Mutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')

const ifAvailable = true

cronOver('Redis', redisServer, './helpers/redis_connect.js')
cronOver('PostgreSQL', postgresServer, './helpers/postgres_connect.js')

function cronOver(what, startServer, connector) {
  describe(`A job of several processes, with a minHold over ${what}`, function () {
    this.timeout(60_000)
    const { connect } = require(connector)
    let server
    let ends
    before(async () => {
      server = await startServer()
    })
    after(() => server.close())
    beforeEach(() => {
      ends = []
    })
    afterEach(async () => {
      for (const end of ends.reverse()) await end()
    })

    /** A process that does `code` with the mutexes `cron` and `plain` of that name. */
    function processOf(name, code) {
      const script = `
        const { connect } = require(${JSON.stringify(require.resolve(connector))})
        const { Engine } = require(${JSON.stringify(require.resolve('../../lib/cluster/engine.js'))})
        const { Mutex } = require(${JSON.stringify(require.resolve('../..'))})
        const tell = (line) => new Promise((resolve) => process.stdout.write(line + '\\n', resolve))
        connect(${server.port}).then(async (connection) => {
          const engine = new Engine(connection.driver(), { ttl: 4000, maxHold: 60_000, answerTimeout: 20_000 })
          const cron = new Mutex({ engine, name: ${JSON.stringify(name)}, minHold: 60_000 })
          const plain = new Mutex({ engine, name: ${JSON.stringify(`plain ${name}`)} })
          ${code}
        })`
      const child = spawn(process.execPath, ['-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      ends.push(() => child.kill('SIGKILL'))
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      return { child, line: async () => (await lines.next()).value }
    }

    async function mutexes(name) {
      const connection = await connect(server.port)
      const engine = new Engine(connection.driver(), { answerTimeout: 20_000 })
      ends.push(async () => {
        await engine.close()
        await connection.close()
      })
      const cron = new Mutex({ engine, name, minHold: 60_000 })
      return { cron, plain: new Mutex({ engine, name: `plain ${name}` }) }
    }

    it('is run by one of them', async () => {
      const name = randomUUID()
      const code = `
        const result = await cron.runExclusive(() => 'ran', { ifAvailable: true })
        await tell(result ?? 'skipped')
        await engine.close()
        process.exit()`
      const all = Array.from({ length: 4 }, () => processOf(name, code))
      const lines = await Promise.all(all.map(({ line }) => line()))
      assert.deepEqual(lines.sort(), ['ran', 'skipped', 'skipped', 'skipped'])
      const { cron } = await mutexes(name)
      assert.equal(await cron.runExclusive(() => 'ran', { ifAvailable }), undefined)
    })

    it('is not run again when the process that runs it is killed', async () => {
      const name = randomUUID()
      const code = `
        await plain.acquire()
        await cron.runExclusive(() => tell('runs').then(() => new Promise(() => {})))`
      const { child, line } = processOf(name, code)
      assert.equal(await line(), 'runs')
      const { cron, plain } = await mutexes(name)
      child.kill('SIGKILL')
      // Its session is over when another lock of it goes to the next.
      const release = await plain.acquire()
      assert.equal(release.abandoned, true)
      assert.equal(await cron.runExclusive(() => 'ran', { ifAvailable }), undefined)
      release()
    })
  })
}
