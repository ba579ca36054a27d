'use strict'
// Programs and polyfills that add enumerable properties to Object.prototype, which every object inherits.
const assert = require('node:assert/strict')
const { mkdtempSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { run } = require('../helpers/processes.js')

const entry = path.join(__dirname, '..', '..', 'lib', 'index.js')

const uses = `
  const { pathToFileURL } = require('node:url')
  async function use(options, defaults) {
    const all = (await import(pathToFileURL(${JSON.stringify(entry)}))).default
    const wait = { timeout: 1000, signal: new AbortController().signal }
    const mutex = new all.Mutex({ ...options, ...defaults })
    ;(await mutex.acquire(wait))()
    await mutex.runExclusive(() => {}, wait)
    const keyed = new all.KeyedMutex({ ...options, ...defaults })
    ;(await keyed.acquire(['a', 'b'], wait))()
    const [, release] = await new all.Semaphore(1, { ...options, ...defaults }).acquire(1, wait)
    release()
    const lock = new all.RWLock({ ...options })
    ;(await lock.acquireRead(wait))()
    await all.withTimeout(new all.Mutex(), 10).runExclusive(() => {})
    await new all.AutoResetEvent({ isSet: true }).wait(wait)
    await new all.SingleFlight().do('a', () => 1, wait)
    await all.locks.request('a', wait, () => {})
    all.installNavigatorLocks()
    await all.snapshot()
  }`

/** Names that code may add, and two of a property's descriptor: Node.js itself does not start with its others. */
const names = ['extend', 'get', 'set', 'fencingToken', 'reason']

describe('Where every object inherits enumerable properties', () => {
  let directory
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-polluted-'))
  })
  after(() => rmSync(directory, { recursive: true }))

  for (const name of names) {
    it(`locks are constructed and serve: ${name}`, async () => {
      const { code, stderr } = await run([
        '-e',
        `'use strict'
        ${uses}
        Object.prototype[${JSON.stringify(name)}] = function added() {}
        async function main() {
          await use({}, {})
          await use({ diagnostics: true }, { maxPending: 5 })
          await use({ name: 'polluted' }, { timeout: 1000 })
          await use({ name: 'polluted', scope: 'host', directory: process.argv[1] }, {})
        }
        main().catch((error) => { console.error(error); process.exit(1) })`,
        mkdtempSync(path.join(directory, 'one-')),
      ])
      assert.equal(code, 0, stderr)
    })
  }

  it('an unknown option is still refused, own or inherited', () => {
    const { Mutex } = require('../..')
    const unknown = { name: 'TypeError', message: /unknown option "timeuot": did you mean timeout/ }
    assert.throws(() => new Mutex({ timeuot: 1 }), unknown)
    assert.throws(() => new Mutex(Object.create({ timeuot: 1 })), unknown)
    const bare = Object.create(Object.assign(Object.create(null), { timeuot: 1 }))
    assert.throws(() => new Mutex(bare), unknown)
  })
})
