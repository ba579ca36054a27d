'use strict'
// What waits for locks over an engine keep a process alive, where nothing else does.
const assert = require('node:assert/strict')
const path = require('node:path')
const { postgresServer } = require('./helpers/postgres_server.js')
const { entry, run } = require('../helpers/processes.js')

const root = path.join(__dirname, '..', '..')

describe('A process whose pool of PostgreSQL lets it exit', function () {
  this.timeout(60_000)
  this.slow(10_000)
  let server
  before(async () => {
    server = await postgresServer()
  })
  after(() => server.close())

  /** How the process ends that runs `code`. */
  function endOf(code) {
    const text = `
      const { KeyedMutex, Mutex } = require(${JSON.stringify(entry)})
      const { postgres } = require(${JSON.stringify(path.join(root, 'lib/cluster/postgres/index.js'))})
      const { Pool } = require(${JSON.stringify(require.resolve('pg'))})
      const pool = new Pool({ connectionString: ${JSON.stringify(server.url)}, allowExitOnIdle: true })
      const engine = postgres(pool, { ttl: 1000, maxHold: 1500 })
      const main = async () => { ${code} }
      main()`
    return run(['-e', text], { env: { BOXOFFICE_DIAGNOSTICS: '' } })
  }

  const closing = {
    Mutex: "const lock = new Mutex({ engine, name: 'a', maxHold: 1500 }); await lock.acquire()",
    KeyedMutex:
      "const lock = new KeyedMutex({ engine, name: 'a', maxHold: 1500 }); await lock.acquire('k')",
  }
  for (const [title, code] of Object.entries(closing)) {
    it(`waits in close() of a ${title} until maxHold has ended a hold`, async () => {
      const { shown } = await endOf(`${code}
        await lock.close()
        console.log(JSON.stringify('closed'))
        await engine.close()`)
      assert.deepEqual(shown, ['closed'])
    })
  }

  it('names a caller that waits behind a holder of its thread that has lost its lease', async () => {
    const { shown, stderr } = await endOf(`
      const mutex = new Mutex({ engine, name: 'a' })
      await mutex.acquire()
      console.log(JSON.stringify('held'))
      await mutex.acquire()
      console.log(JSON.stringify('held twice'))`)
    assert.deepEqual(shown, ['held'])
    assert.match(stderr, /\n {2}1 for the mutex "a"\n/)
  })
})
