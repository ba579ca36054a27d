'use strict'
// Runs the documents: the blocks of JavaScript of each one, in the order of the text.
const assert = require('node:assert/strict')
const { readdirSync } = require('node:fs')
const path = require('node:path')
const documentation = require('../helpers/documents.js')
const { good, root, runExample } = require('../helpers/examples.js')
const { messages } = require('../helpers/messages.js')

const { anchorsIn, documents, filesIn, isThere, knownBlocks, linksIn, read } = documentation
const { repositoryLinksIn, serverlessBlocks } = documentation

describe('the documents', function () {
  this.timeout(60_000)

  for (const { name, blocks } of documents()) {
    // The others: documentation_servers.test.js.
    const here = knownBlocks(serverlessBlocks(blocks))
    if (here.length === 0) continue
    it(`run: ${name}, ${here.length} of ${blocks.length} blocks`, async () => {
      // A block that awaits a warning shall not print it as well.
      const awaitsWarning = here.some((block) => block.includes("once(process, 'warning')"))
      const env = awaitsWarning ? { NODE_NO_WARNINGS: '1' } : {}
      assert.deepEqual(await runExample(here, { timeout: 50_000, env }), good)
    })
  }
})

describe('the examples of the documents', () => {
  it('import modules, and do not require them', () => {
    const required = documents().flatMap(({ name, blocks }) =>
      blocks.filter((block) => /^const .* = require\(/m.test(block)).map(() => name),
    )
    assert.deepEqual(required, [])
  })
})

describe('the links of the documents', () => {
  const names = documents().map(({ name }) => name)

  it('lead to existing targets', () => {
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

  it('lead from the README to each of them, directly or not', () => {
    const reached = new Set(['README.md'])
    for (const name of reached) {
      const text = read(name)
      const links = linksIn(text).map((link) =>
        path.join(path.dirname(name), link.split('#', 1)[0]),
      )
      for (const target of [...links, ...repositoryLinksIn(text)])
        if (names.includes(target)) reached.add(target)
    }
    assert.deepEqual(
      names.filter((name) => !reached.has(name)),
      [],
    )
  })
})

describe('the table of errors', () => {
  const code = /ERR_LOCK_[A-Z]+(?:_[A-Z]+)*\b/g

  it('has every code, and no other', () => {
    const rows = read('docs/errors.md').match(/^\| `ERR_LOCK_\w+` .*$/gm)
    const explained = rows.map((row) => row.match(code)[0])
    const files = filesIn('lib', 'binding').filter((file) => !/\.d\.m?ts$/.test(file))
    const known = new Set(files.flatMap((file) => read(file).match(code) ?? []))
    assert.deepEqual(explained.toSorted(), [...known].sort())
    const [union] = read('lib/core/errors.d.ts').match(/type LockErrorCode =[^/]*/)
    assert.deepEqual(union.match(code), [...known].sort())
  })
})

describe('the messages of errors', () => {
  /** Each `heading: message` of the tables of docs/errors.md. A row may have several messages in its first cell. */
  function explained() {
    const sections = read('docs/errors.md').split('## All messages')[1].split(/^### /m).slice(1)
    return sections.flatMap((section) => {
      const heading = section.slice(0, section.indexOf('\n'))
      const rows = section.match(/^\| `[^|]*/gm)
      const spans = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)])
      return spans.map(([, message]) => `${heading}: ${message}`)
    })
  }

  it('are each in docs/errors.md with cause and cure, and no others', () => {
    for (const [row, cause, cure] of read('docs/errors.md').matchAll(
      /^\| `[^|]*\|([^|]*)\|([^|]*)\|$/gm,
    )) {
      assert.ok(cause.trim() && cure.trim(), row)
    }
    const known = messages().map((one) =>
      one.replace(/^(?:Type|Range)Error:/, 'TypeError and RangeError:'),
    )
    assert.deepEqual(explained().toSorted(), known.sort())
  })
})

describe('the map of the folders', () => {
  const text = read('CONTRIBUTING.md')
  const foldersIn = (parent) =>
    readdirSync(path.join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => path.posix.join(parent, name))

  it('has a line for each folder of the repository, of lib/ and of src/', () => {
    // lib/ and src/ have lines for their folders; programs and editors make the others.
    const others = /^(?:\.(?!ci$|github$)|(?:build|coverage|lib|node_modules|prebuilds|src)$)/
    const folders = foldersIn('.').filter((name) => !others.test(name))
    for (const name of [...folders, ...foldersIn('lib'), ...foldersIn('src')])
      assert.ok(text.includes(`| [${name}](${name}) |`), name)
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
