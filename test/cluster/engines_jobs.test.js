'use strict'
// Jobs of several processes under a lock with a minHold, over real servers.
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { randomUUID } = require('node:crypto')
const { createInterface } = require('node:readline')
const { Mutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { useEnds } = require('./helpers/ends.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const { redisServer } = require('./helpers/servers.js')

const ifAvailable = true

cronOver('Redis', redisServer, './helpers/redis_connect.js')
cronOver('PostgreSQL', postgresServer, './helpers/postgres_connect.js')
cronOver('etcd', etcdServer, './helpers/etcd_connect.js')

function cronOver(what, startServer, connector) {
  describe(`A job of several processes, with a minHold over ${what}`, function () {
    this.timeout(60_000)
    const { connect } = require(connector)
    let server
    const ends = useEnds()
    before(async () => {
      server = await startServer()
    })
    after(() => server.close())

    /** Starts a process that runs `code`, with the mutexes `cron` and `plain` of that name. */
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
      // When the process's other lock goes to the next process, its session has ended.
      const release = await plain.acquire()
      assert.equal(release.abandoned, true)
      assert.equal(await cron.runExclusive(() => 'ran', { ifAvailable }), undefined)
      release()
    })
  })
}
