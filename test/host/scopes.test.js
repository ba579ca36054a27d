'use strict'
// The table of docs/scopes.md, cell by cell.
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const boxoffice = require('../..')
const { fakeWorld } = require('../cluster/helpers/fake_world.js')
const { freshName } = require('../helpers/agents.js')
const { useHosts } = require('../helpers/hosts.js')

const document = path.join(__dirname, '..', '..', 'docs', 'scopes.md')
const scopes = ['thread', 'threads', 'host', 'engine']
const firstArguments = { Barrier: [2], CountdownLatch: [1], DiningPhilosophers: [5] }
const unitsOf = { Semaphore: [2], KeyedSemaphore: [2] }

/** By class: its cell for each scope. */
function readTable() {
  const [, section] = fs.readFileSync(document, 'utf8').split('## Every class by every scope')
  const rows = section.split('\n## ', 1)[0].matchAll(/^\| `(\w+)` *\|(.*)\|$/gm)
  return [...rows].map(([, name, rest]) => {
    const cells = rest.split('|').map((cell) => cell.trim())
    return { name, cells: Object.fromEntries(scopes.map((scope, i) => [scope, cells[i]])) }
  })
}

const isMissing = (cell) => cell === 'no' || cell === 'not yet'

describe('The table of classes and scopes', () => {
  const world = fakeWorld()
  const hosts = useHosts()
  const table = readTable()

  const optionsOf = async (scope) => {
    const name = freshName()
    if (scope === 'thread') return {}
    if (scope === 'threads') return { scope: 'process', name }
    if (scope === 'host') return { scope: 'host', name, directory: hosts.directory }
    return { engine: await world.newEngine(), name }
  }
  const construct = (name, options) =>
    new boxoffice[name](...(firstArguments[name] ?? unitsOf[name] ?? []), options)

  it('has every class of the package', () => {
    const classes = Object.keys(boxoffice).filter(
      (name) => /^[A-Z][a-z]/.test(name) || /^RW/.test(name),
    )
    const others = ['Lock'] // the description that the lock manager's callbacks get
    assert.deepEqual(
      table.map(({ name }) => name).sort(),
      classes.filter((name) => !others.includes(name)).sort(),
    )
  })

  for (const { name, cells } of table) {
    for (const [scope, cell] of Object.entries(cells)) {
      if (isMissing(cell)) {
        it(`refuses ${name} (${scope}) and says what to use`, async () => {
          const options = await optionsOf(scope)
          const before = fs.readdirSync(hosts.directory)
          assert.throws(() => construct(name, options), {
            code: 'ERR_LOCK_UNSUPPORTED',
            message: new RegExp(`^${name} "${options.name}": not available .*; (use|let|count) `),
          })
          assert.deepEqual(fs.readdirSync(hosts.directory), before)
        })
      } else if (cell.startsWith('yes')) {
        it(`constructs ${name} (${scope})`, async () => {
          const { name: itsName, ...others } = await optionsOf(scope)
          const isUnnamed = scope === 'thread' || cell === 'yes, without a name'
          const lock = construct(name, isUnnamed ? others : { name: itsName, ...others })
          assert.ok(lock instanceof boxoffice[name])
        })
      }
    }
  }
})
