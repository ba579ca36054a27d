'use strict'
// Runs the lines of docs/operations.md at servers where a lock is held and waited for.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { hostname } = require('node:os')
const { promisify } = require('node:util')
const { KeyedMutex } = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { read } = require('../helpers/documents.js')
const etcdConnect = require('./helpers/etcd_connect.js')
const { etcdServer } = require('./helpers/etcd_server.js')
const postgresConnect = require('./helpers/postgres_connect.js')
const { postgresServer } = require('./helpers/postgres_server.js')
const redisConnect = require('./helpers/redis_connect.js')
const { redisServer } = require('./helpers/servers.js')

const text = read('docs/operations.md')
const owner = `${hostname().replaceAll('.', '\\.')}:${process.pid}`

/** The lines for `engine` in the section `title`. */
function linesOf(title, engine) {
  const section = text.split('\n## ').find((one) => one.startsWith(title))
  return section
    .split('```sh\n')
    .find((one) => one.startsWith(`# ${engine}\n`))
    .split('```')[0]
}

/** By engine: `holder` finds the session of the holder in what the lines print, `shown` the rest. */
const engines = {
  Redis: {
    start: redisServer,
    connect: redisConnect.connect,
    env: ({ port }) => ({ REDIS_URL: `redis://127.0.0.1:${port}` }),
    holder: /^h(\S+)-\d+\n1 \d+ \d+ 0 \d+$/m,
    shown: (session) => [
      /^\{boxoffice:0\}:k:keyed mutex:seats:sA7$/m,
      /^[\w-]+-\d+\n\{boxoffice:0\}:s:/m,
      `:s:${session} ${owner}`,
    ],
    watched: [/noeviction/, /evicted_keys:0/, /cmdstat_evalsha:calls=/, /^2$/m],
  },
  PostgreSQL: {
    start: postgresServer,
    connect: postgresConnect.connect,
    env: ({ url }) => ({ DATABASE_URL: url }),
    holder: /keyed mutex:seats:sA7 \| (\S+) +\| \d+ /,
    shown: () => [/keyed mutex:seats:sA7 \| \S+ +\| +\| .*127\.0\.0\.1/],
    watched: [/sessions \n-+\n +2\n/, /leases +\| +\d+/, /longest/],
  },
  etcd: {
    start: etcdServer,
    connect: etcdConnect.connect,
    env: ({ port }) => ({ ETCD_URL: `http://127.0.0.1:${port}`, ETCDCTL_API: '3' }),
    holder: /keyed mutex:seats:sA7\n.*"holders":\[\{"id":"([^"]+)-\d+"/,
    shown: (session) => [/queue\/keyed mutex:seats:sA7\/\S+-\d+/, `process/${session}\n"${owner}"`],
    watched: [/DB SIZE/, /"Count" : 2/],
  },
}

for (const [name, { start, connect, env, holder, shown, watched }] of Object.entries(engines)) {
  describe(`The operation of locks over ${name}`, function () {
    this.timeout(60_000)
    this.slow(10_000)
    let server
    let connection
    const all = []
    before(async () => {
      server = await start()
      connection = await connect(server.port)
    })
    after(async () => {
      for (const engine of all) await engine.close()
      await connection.close()
      await server.close()
    })

    /** What the lines of `title` print. Any that fails rejects. */
    async function run(title, more) {
      const options = { env: { ...process.env, ...env(server), ...more } }
      const shell = ['-euo', 'pipefail', '-c', linesOf(title, name)]
      const { stdout } = await promisify(execFile)('bash', shell, options)
      return stdout
    }

    /** The session of the holder, if the lines have printed everything. */
    function holderIn(printed) {
      const session = holder.exec(printed)?.[1]
      const isShown = (one) => printed.search(one) >= 0
      return shown(session).every(isShown) ? session : undefined
    }

    function seats() {
      // On a busy machine, the renewing thread starts slowly.
      const engine = new Engine(connection.driver(), { answerTimeout: 30_000 })
      all.push(engine)
      return new KeyedMutex({ engine, name: 'seats' })
    }

    it('is as docs/operations.md shows: who holds, how to break a lock, what to watch', async () => {
      const release = await seats().acquire('A7')
      const waiting = seats().acquire('A7')
      const lost = once(release.signal, 'abort')
      // Until the waiter is queued.
      let session
      while (session === undefined) session = holderIn(await run('See who holds what'))
      const state = await run('What to watch')
      for (const one of watched) assert.match(state, one)
      await run('Break a lock', { SESSION: session })
      const next = await waiting
      assert.equal(next.abandoned, true)
      assert.ok(next.fencingToken > release.fencingToken)
      await lost
      assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
      next()
    })
  })
}
