'use strict'
// The documents run: the blocks of JavaScript of each one after the other, as a reader meets them.
const assert = require('node:assert/strict')
const path = require('node:path')
const documentation = require('../helpers/documents.js')
const { good, runExample } = require('../helpers/examples.js')

const { anchorsIn, documents, filesIn, isThere, knownBlocks, linksIn, read, serverlessBlocks } =
  documentation

describe('the documents', function () {
  this.timeout(60_000)

  for (const { name, blocks } of documents()) {
    // The others: documentation_servers.test.js.
    const here = knownBlocks(serverlessBlocks(blocks))
    if (here.length === 0) continue
    it(`run: ${name}, ${here.length} of ${blocks.length} blocks`, async () => {
      assert.deepEqual(await runExample(here, { timeout: 50_000 }), good)
    })
  }
})

describe('the links of the documents', () => {
  const names = documents().map(({ name }) => name)

  it('lead to what is there', () => {
    for (const name of names) {
      for (const link of linksIn(read(name))) {
        const [file, anchor] = link.split('#')
        const target = file === '' ? name : path.join(path.dirname(name), file)
        assert.ok(isThere(target), `${link} of ${name} is not there`)
        if (anchor === undefined) continue
        assert.ok(
          anchorsIn(read(target)).includes(anchor),
          `${link} of ${name} is no heading there`,
        )
      }
    }
  })

  it('lead from the README to each of them', () => {
    const linked = linksIn(read('README.md')).map((link) => link.split('#', 1)[0])
    for (const name of names) {
      if (name !== 'README.md') assert.ok(linked.includes(name), `${name} is not in the README`)
    }
  })
})

describe('the table of errors', () => {
  const code = /ERR_LOCK_[A-Z]+(?:_[A-Z]+)*\b/g

  it('has every code that there is, and no other', () => {
    const rows = read('docs/errors.md').match(/^\| `ERR_LOCK_\w+` .*$/gm)
    const explained = rows.map((row) => row.match(code)[0])
    const files = filesIn('lib', 'binding').filter((file) => !/\.d\.m?ts$/.test(file))
    const known = new Set(files.flatMap((file) => read(file).match(code) ?? []))
    assert.deepEqual(explained.toSorted(), [...known].sort())
  })
})

describe('the commands', () => {
  it('are all in CONTRIBUTING.md, and no others', () => {
    const scripts = Object.keys(JSON.parse(read('package.json')).scripts)
    const text = read('CONTRIBUTING.md')
    const named = [...text.matchAll(/npm (run )?([\w:]+)/g)]
    for (const script of scripts)
      assert.ok(
        named.some(([, , name]) => name === script),
        script,
      )
    for (const [, isRun, name] of named) if (isRun) assert.ok(scripts.includes(name), name)
  })
})
