'use strict'
// Bundles for Node.js, by esbuild without options for this package, and with its addon copied.
const assert = require('node:assert/strict')
const { mkdtempSync, readdirSync, readFileSync, rmSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const esbuild = require('esbuild')
const { run } = require('../helpers/processes.js')

describe('a bundle for Node.js', () => {
  let folder
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
  })
  after(() => rmSync(folder, { recursive: true }))

  /** How a bundle of `code` ends, after `change()`. */
  async function endOf(code, { options, env = {}, change = () => {} } = {}) {
    const outfile = path.join(folder, 'app.cjs')
    await esbuild.build({
      stdin: { contents: code, resolveDir: __dirname },
      ...{ bundle: true, platform: 'node', outfile, logLevel: 'silent' },
      ...options,
    })
    change()
    return run([outfile], { env: { BOXOFFICE_DIAGNOSTICS: '', ...env } })
  }

  const use = `const { KeyedMutex, Mutex } = require('boxoffice')
    const make = (Class) => {
      const options = [{}, { diagnostics: false }, { shared: false, diagnostics: false }]
      return options.map((each) => new Class(each).isLocked?.('key') ?? false)
    }
    new Mutex().runExclusive(() => console.log(JSON.stringify([make(Mutex), make(KeyedMutex)])))`
  const works = [[Array(3).fill(false), Array(3).fill(false)]]

  it('takes an option that is off, without the addon', async () => {
    const { code, shown, stderr } = await endOf(use)
    assert.deepEqual([code, shown, stderr], [0, works, ''])
  })

  for (const level of ['1', 'counters', 'order']) {
    it(`works without the addon where BOXOFFICE_DIAGNOSTICS=${level}, and warns once`, async () => {
      const env = { BOXOFFICE_DIAGNOSTICS: level }
      const { code, shown, stderr } = await endOf(use, { env })
      assert.deepEqual([code, shown], [0, works], stderr)
      assert.equal(stderr.match(/\[BOXOFFICE_NO_DIAGNOSTICS\]/g).length, 1)
      assert.match(stderr, /esbuild: --conditions=node-addons/)
    })
  }

  const copying = { conditions: ['node-addons'], loader: { '.node': 'copy' } }

  /** As Bun's bundler does, writes the path of each source into the bundle. */
  const asBun = {
    name: 'as Bun',
    setup: (build) =>
      build.onLoad({ filter: /lib[\\/]addon[\\/]\w+\.js$/ }, ({ path: file }) => ({
        contents: `var __filename = ${JSON.stringify(file)}\n${readFileSync(file, 'utf8')}`,
      })),
  }

  it("advises on bundlers where a binary is missing beside the bundle, as by Bun's", async () => {
    const options = { ...copying, plugins: [asBun] }
    const change = () => {
      const binaries = readdirSync(folder).filter((file) => file.endsWith('.node'))
      for (const file of binaries) rmSync(path.join(folder, file))
    }
    const code = "new (require('boxoffice').Mutex)({ name: 'a' })"
    const { stderr } = await endOf(code, { options, change })
    assert.match(stderr, /It runs from a bundle\. Keep the package external/)
    assert.match(stderr, /Bun: +--external boxoffice/)
    assert.doesNotMatch(stderr, /compiler/)
  })

  it('tells long holds of different sites apart, with the addon', async () => {
    const { shown } = await endOf(
      `const { Mutex } = require('boxoffice')
      let left = 3
      process.on('warning', ({ code }) => {
        if (--left === 0) clearInterval(alive)
        console.log(JSON.stringify(code))
      })
      const alive = setInterval(() => {}, 1e6)
      setTimeout(() => process.exit(), 5000).unref()
      const lockOf = (name) => new Mutex({ name, diagnostics: true, warnAfter: 1 })
      const [one, other, third] = [lockOf('one'), lockOf('other'), lockOf('third')]
      globalThis.first = one.tryAcquire()
      globalThis.second = other.tryAcquire()
      globalThis.third = third.tryAcquire()`,
      { options: copying },
    )
    assert.deepEqual(shown, Array(3).fill('BOXOFFICE_LONG_HOLD'))
  })
})
