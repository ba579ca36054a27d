'use strict'
// The README's examples work: its first lines, and the text of its deadlock.
const assert = require('node:assert/strict')
const {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const printTable = require('../../examples/ticket-shop/table.js')
const { read } = require('../helpers/documents.js')
const { blocksIn, root, withoutImports } = require('../helpers/examples.js')
const { run } = require('../helpers/processes.js')

const AsyncFunction = (async () => {}).constructor
const readme = read('README.md')

describe('the first lines of the README', () => {
  /** Its functions, with a table of orders that answers later. */
  function shop() {
    const [block] = blocksIn(readme)
    assert.match(block, /the bug: [\s\S]*the fix: /)
    const code = `${withoutImports(block)}\nreturn { buy, buyOnce }`
    const orders = []
    return new AsyncFunction('findOrder', 'createOrder', code)(
      async (user) => orders.find((order) => order.user === user),
      async (user) => orders[orders.push({ user }) - 1],
    )
  }

  it('have the bug: two clicks get two orders', async () => {
    const { buy } = await shop()
    const [first, second] = await Promise.all([buy('ada'), buy('ada')])
    assert.notEqual(first, second)
  })

  it('have the fix: two clicks get one order, and another user gets another one', async () => {
    const { buyOnce } = await shop()
    const [first, second, other] = await Promise.all(['ada', 'ada', 'bob'].map(buyOnce))
    assert.equal(first, second)
    assert.notEqual(first, other)
  })
})

describe('the table of the README', () => {
  const tableIn = (markdown) => markdown.match(/^\|.*tickets sold.*\n(?:\|.*\n)+/m)[0]
  const namesIn = (line) => line.split('|').map((cell) => cell.trim())

  it('is the one of the ticket shop', () => {
    assert.equal(tableIn(readme), tableIn(read('examples/ticket-shop/README.md')))
  })

  it('has the columns that npm start prints', () => {
    const [head] = tableIn(readme).split('\n')
    assert.deepEqual(namesIn(head), namesIn(printTable([]).split('\n')[0]))
  })
})

describe('the deadlock of the README', function () {
  this.timeout(20_000)
  let folder
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxoffice-readme-')))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('prints the text that the README shows', async () => {
    const block = blocksIn(readme).find((code) => code.includes('refill'))
    const [, text] = readme.match(/^```text\n(the mutex "till"[\s\S]*?)^```$/m)
    mkdirSync(path.join(folder, 'node_modules'))
    symlinkSync(root, path.join(folder, 'node_modules', 'boxoffice'), 'junction')
    const file = path.join(folder, 'shop.mjs')
    writeFileSync(file, `${block}console.error(reason.message)\n`)
    const { code, stderr } = await run([file])
    assert.equal(code, 0)
    assert.equal(stderr.replaceAll(pathToFileURL(folder).href, 'file:///app').trim(), text.trim())
  })
})
