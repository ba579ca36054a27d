'use strict'
// The structure that CONTRIBUTING.md promises: which folder of lib/ may import which, without
// circles, and native functions that are called by their full names.
const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const native = require('../../lib/addon/load.js')
const { lent, lentAbandoned, notLent } = require('../../lib/core/lender.js')
const { runCode } = require('../helpers/processes.js')

const lib = path.join(__dirname, '..', '..', 'lib')

const sources = readdirSync(lib, { recursive: true })
  .filter((file) => file.endsWith('.js') && !file.includes(`page${path.sep}`))
  .map((file) => path.join(lib, file))

const declarations = readdirSync(lib, { recursive: true })
  .filter((file) => file.endsWith('.d.ts'))
  .map((file) => path.join(lib, file))

/** The folders of lib/, each above those that it may import. */
const floors = [
  ['index.js'],
  ['locks', 'weblocks'],
  ['options'],
  ['diagnostics', 'host'],
  ['cluster', 'process'],
  ['addon'],
  ['core'],
]
const floorOf = (file) => floors.findIndex((folders) => folders.includes(folderOf(file)))

/** The folder of lib/ that contains `file`. */
const folderOf = (file) => path.relative(lib, file).split(path.sep)[0]

/** Every file of this package that `file` imports, at once or later. */
function importsOf(file) {
  const code = readFileSync(file, 'utf8')
  return [...code.matchAll(/(?:require\(|from )'(\.[^']+\.js)'/g)].map(([, target]) =>
    path.join(path.dirname(file), target),
  )
}

/** The folders from which files of `folder` import. */
function neighbours(folder) {
  const files = sources.filter((file) => folderOf(file) === folder)
  assert.ok(files.length > 0, folder)
  return new Set(files.flatMap((file) => importsOf(file).map(folderOf)))
}

/** The first circle of imports that `file` leads to, or undefined. */
function circleFrom(file, trail, done) {
  if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file]
  if (done.has(file)) return undefined
  for (const next of importsOf(file)) {
    const circle = circleFrom(next, [...trail, file], done)
    if (circle !== undefined) return circle
  }
  done.add(file)
  return undefined
}

describe('The structure of lib/', () => {
  it('has at most 12 entries', () => {
    const entries = readdirSync(lib)
    assert.ok(entries.length <= 12, entries.join(' '))
  })

  it('has at most 300 lines in a file, as binding/ and src/ have', () => {
    const root = path.dirname(lib)
    const files = ['lib', 'binding', 'src'].flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true }).map((file) =>
        path.join(root, folder, file),
      ),
    )
    const code = files.filter((file) => /\.(?:m?js|d\.m?ts|cc|cpp|h)$/.test(file))
    const long = code.filter((file) => readFileSync(file, 'utf8').split('\n').length > 301)
    assert.ok(code.length > 300, `${code.length} files`)
    assert.deepEqual(long, [])
  })

  it('imports only names that the other file exports', async () => {
    const names = sources.flatMap((file) => {
      const code = readFileSync(file, 'utf8')
      const imports = [...code.matchAll(/const \{([^}]*)\} = require\('(\.[^']+)'\)(?!\.)/g)]
      return imports.flatMap(([, list, target]) => {
        const exported = list.split(',').map((one) => one.split(':')[0].trim())
        return exported.filter((name) => name !== '').map((name) => [file, target, name])
      })
    })
    assert.ok(names.length > 1000, `${names.length} names`)
    // In another process, because some files do more than export when they are loaded.
    const { shown } = await runCode(
      `const path = require('node:path')
      const isMissing = ([file, target, name]) => !(name in require(path.resolve(path.dirname(file), target)))
      show(${JSON.stringify(names)}.filter(isMissing))`,
    )
    assert.deepEqual(shown, [[]])
  })

  it('has a core that imports no other folder', () => {
    assert.deepEqual([...neighbours('core')], ['core'])
  })

  for (const [folder, others] of [
    ['process', ['host', 'cluster', 'locks', 'options', 'diagnostics', 'weblocks']],
    ['host', ['cluster', 'locks', 'options', 'diagnostics', 'weblocks']],
    ['cluster', ['process', 'host', 'locks', 'options', 'weblocks']],
    ['diagnostics', ['host', 'cluster', 'locks', 'options']],
  ]) {
    it(`has no import from ${folder}/ of ${others.join(', ')}`, () => {
      const found = [...neighbours(folder)].filter((other) => others.includes(other))
      assert.deepEqual(found, [])
    })
  }

  it('imports, in code and in declarations, from the same folder and from lower ones', () => {
    const all = [...sources, ...declarations]
    const arrows = all.flatMap((file) => importsOf(file).map((target) => [file, target]))
    const up = arrows.filter(
      ([file, target]) =>
        folderOf(file) !== folderOf(target) &&
        target.startsWith(lib) &&
        floorOf(file) >= floorOf(target),
    )
    assert.ok(arrows.length > 900, `${arrows.length} arrows`)
    assert.deepEqual(up, [])
  })

  it('has no circle of imports', () => {
    const done = new Set()
    for (const file of sources) assert.equal(circleFrom(file, [], done), undefined)
  })

  it('has the answers of lenders as C++ has them', () => {
    const { granted, grantedAbandoned, notGranted } = native.layout.outcomes
    assert.deepEqual([lent, lentAbandoned, notLent], [granted, grantedAbandoned, notGranted])
  })

  it('calls every function of the addon by its name, as native.mutex.enter', () => {
    const code = sources.map((file) => readFileSync(file, 'utf8')).join('\n')
    const unused = Object.values(native)
      .filter((topic) => typeof topic === 'object' && topic !== null)
      .flatMap((topic) => Object.keys(topic).filter((name) => typeof topic[name] === 'function'))
      .filter((name) => {
        const call = `\\bnative(\\.\\w+)?\\.${name}\\b`
        const taken = `\\{[^}]*\\b${name}\\b[^}]*\\} = ([\\w.]*\\bnative|require\\('[./]*addon/load\\.js'\\))`
        return !new RegExp(`${call}|${taken}`).test(code)
      })
    assert.deepEqual(unused, [])
  })
})
