'use strict'
// The published package, installed as users do: with nothing but Node.js on the PATH, except to
// build from source.
const assert = require('node:assert/strict')
const { copyFileSync, cpSync, readFileSync, renameSync, rmSync } = require('node:fs')
const path = require('node:path')
const { stripVTControlCharacters } = require('node:util')
const { documented, nodeOf, prepare, project, root, tarball, tool } = require('./helpers.js')

const smoke = readFileSync(path.join(__dirname, 'user', 'smoke.cjs'), 'utf8')
const here = `${process.platform}-${process.arch}`
const npm = (name) => [nodeOf(24), [tool(name, 'bin', 'npm-cli.js')]]

/** Runs it in the project, and returns its output. */
function ok(where, program, args, options) {
  const { status, stdout, stderr, error } = where.run(program, args, options)
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${error ?? ''}\n${stdout}\n${stderr}`)
  return stdout.trim()
}

function install(where, name, ...options) {
  const [program, args] = npm(name)
  ok(where, program, [...args, 'install', '--no-audit', '--no-fund', ...options, tarball])
}

describe('the package, installed', function () {
  this.timeout(300_000)
  before(prepare)
  const projects = []
  const empty = (files) => {
    projects.push(project({ 'smoke.cjs': smoke, ...files }))
    return projects.at(-1)
  }
  afterEach(() => {
    for (const each of projects.splice(0)) each.remove()
  })

  it('runs nothing when it is installed, and installs no other package', () => {
    const where = empty()
    install(where, 'npm11')
    const manifest = JSON.parse(readFileSync(path.join(where.installed, 'package.json'), 'utf8'))
    assert.deepEqual([manifest.scripts, manifest.dependencies], [undefined, undefined])
    const lock = JSON.parse(readFileSync(path.join(where.dir, 'package-lock.json'), 'utf8'))
    assert.deepEqual(Object.keys(lock.packages).filter(Boolean), ['node_modules/boxoffice'])
    assert.ok(!where.has('test') && !where.has('bench') && !where.has('release'))
  })

  for (const name of ['npm11', 'npm12']) {
    for (const option of ['--ignore-scripts', '--no-ignore-scripts']) {
      it(`by ${name} ${option}, works without a compiler`, () => {
        const where = empty()
        install(where, name, option)
        assert.equal(ok(where, nodeOf(24), ['smoke.cjs']), here)
      })
    }
  }

  it('by pnpm, works without a compiler', () => {
    const where = empty()
    ok(where, nodeOf(24), [tool('pnpm', 'bin', 'pnpm.cjs'), 'add', `file:${tarball}`])
    assert.equal(ok(where, nodeOf(24), ['smoke.cjs']), here)
  })

  it('works on each version of Node.js, and on Bun and Deno', () => {
    const where = empty()
    install(where, 'npm11')
    for (const major of [20, 22, 24, 26])
      assert.equal(ok(where, nodeOf(major), ['smoke.cjs']), here)
    assert.equal(ok(where, tool('bun', 'bin', 'bun'), ['smoke.cjs']), here)
    assert.equal(ok(where, tool('deno', 'deno'), ['run', '-A', 'smoke.cjs']), here)
  })

  it('has locks of one thread in Deno, which may read files only', () => {
    const code = `const { Mutex } = require('boxoffice')
      new Mutex().runExclusive(() => console.log('in'))`
    const where = empty({ 'thread.cjs': code })
    install(where, 'npm11')
    const args = ['run', '--no-prompt', '--allow-read', 'thread.cjs']
    assert.equal(ok(where, tool('deno', 'deno'), args), 'in')
  })

  it('shows locks in Bun, as documented', () => {
    const where = empty({
      'server.mjs': documented('inspector.md').files['server.mjs'].replace('3000', '0'),
      'ask.mjs': `import { server } from './server.mjs'
        for (const url of ['locks', 'locks/', 'locks/data', 'else']) {
          for (const method of ['GET', 'HEAD', 'POST']) {
            const { status, headers } = await fetch(new URL(url, server.url), { method })
            console.log(url, method, status, headers.get('content-type'))
          }
        }
        server.stop(true)`,
    })
    install(where, 'npm11')
    const shown = ok(where, tool('bun', 'bin', 'bun'), ['ask.mjs']).split('\n')
    const types = { locks: 'text/html', 'locks/': 'text/html', 'locks/data': 'application/json' }
    const expected = Object.entries(types).flatMap(([url, type]) => [
      `${url} GET 200 ${type}; charset=utf-8`,
      `${url} HEAD 200 ${type}; charset=utf-8`,
      `${url} POST 405 text/plain; charset=utf-8`,
    ])
    expected.push('else GET 404 null', 'else HEAD 404 null', 'else POST 404 null')
    assert.deepEqual(shown, expected)
  })

  it('shows locks in Deno', () => {
    const where = empty({
      'ask.mjs': `import { fetchInspector } from 'boxoffice/inspector'
        const inspect = fetchInspector()
        const show = (request, { remoteAddr: { hostname: remoteAddress } }) =>
          inspect(request, { remoteAddress })
        const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, show)
        for (const url of ['locks', 'locks/data']) {
          const { status, headers } = await fetch('http://127.0.0.1:' + server.addr.port + '/' + url)
          console.log(status, headers.get('content-type'))
        }
        await server.shutdown()`,
    })
    install(where, 'npm11')
    const shown = ok(where, tool('deno', 'deno'), ['run', '-A', 'ask.mjs'])
    const types = ['text/html', 'application/json']
    assert.deepEqual(
      shown.split('\n'),
      types.map((type) => `200 ${type}; charset=utf-8`),
    )
  })

  const jestTest = readFileSync(path.join(__dirname, 'user', 'jest.cjs'), 'utf8')

  /** Runs both test files by jest, which must find no open handle. */
  function underJest(files) {
    const where = empty(files)
    install(where, 'npm11')
    const jest = [tool('jest', 'bin', 'jest.js'), '--rootDir', where.dir, '--no-watchman']
    const { status, stderr } = where.run(nodeOf(24), [...jest, '--detectOpenHandles'])
    assert.equal(status, 0, stderr)
    assert.match(stderr, /Tests: +2 passed/)
    assert.doesNotMatch(stderr, /open handle|did not exit/)
  }

  it('leaves no open handle for jest to find', () => {
    underJest({ 'one.test.js': jestTest, 'two.test.js': jestTest })
  })

  it('works and has its types under ts-jest', () => {
    const typed = `${jestTest.replace(/^const (.*) = require\((.*)\)$/m, 'import $1 from $2')}
      declare const test: (name: string, body: () => Promise<void>) => void
      declare const expect: (value: number) => { toBe(other: number): void }`
    const compilerOptions = {
      ...{ strict: true, target: 'es2022', module: 'commonjs', moduleResolution: 'node' },
      types: ['node'],
      typeRoots: [path.join(root, 'node_modules', '@types')],
    }
    underJest({
      'one.test.ts': typed,
      'two.test.ts': typed,
      'tsconfig.json': JSON.stringify({ compilerOptions }),
      'jest.config.json': JSON.stringify({ transform: { '\\.ts$': tool('ts-jest') } }),
    })
  })

  it('works under node --test, on each version of Node.js', () => {
    const expect = '(value) => ({ toBe: (other) => assert.equal(value, other) })'
    const nodeTest = `const assert = require('node:assert/strict')
      const { test } = require('node:test')
      const expect = ${expect}\n${jestTest}`
    const where = empty({ 'one.test.js': nodeTest, 'two.test.js': nodeTest })
    install(where, 'npm11')
    for (const major of [20, 22, 24, 26]) {
      const shown = ok(where, nodeOf(major), ['--test', '--test-reporter=tap'])
      assert.match(shown, /^# pass 2$/m)
    }
  })

  describe('under vitest', () => {
    const files = 24
    const vitestTest = readFileSync(path.join(__dirname, 'user', 'vitest.mjs'), 'utf8')

    /**
     * The lines that each test file has written, one after the other, with `name` as the package.
     */
    function memoryUnder(pool, name = 'boxoffice') {
      const text = vitestTest.replace("'boxoffice'", `'${name}'`)
      const names = Array.from({ length: files }, (_, i) => `${i}.test.mjs`)
      const where = empty(Object.fromEntries(names.map((each) => [each, text])))
      install(where, 'npm11')
      for (const each of ['async-mutex', 'tslib'])
        cpSync(path.join(root, 'node_modules', each), where.inModules(each), { recursive: true })
      const vitest = [tool('vitest', 'vitest.mjs'), 'run', '--root', where.dir, '--globals']
      const shown = ok(where, nodeOf(24), [...vitest, '--pool', pool, '--maxWorkers', '1'])
      assert.match(stripVTControlCharacters(shown), new RegExp(`Tests +${files} passed`))
      const lines = readFileSync(path.join(where.dir, 'memory.jsonl'), 'utf8').trim().split('\n')
      return lines.map((line) => JSON.parse(line))
    }

    /**
     * The memory that vitest keeps per file with the package: the median of the slopes between any
     * two files, because a single collection may be late. The first files load the common modules.
     */
    function bytesPerFile(pool, name) {
      const all = memoryUnder(pool, name)
      assert.equal(all.at(-1).files, files, 'one worker has run all files')
      const later = all.slice(4)
      const slopes = later.flatMap((from, i) =>
        later.slice(i + 1).map((to) => (to.bytes - from.bytes) / (to.files - from.files)),
      )
      return slopes.sort((a, b) => a - b)[slopes.length >> 1]
    }

    for (const pool of ['threads', 'forks']) {
      it(`works in each file, by its pool ${pool}`, () => {
        assert.equal(memoryUnder(pool).length, files)
      })
    }

    for (const pool of ['vmThreads', 'vmForks']) {
      it(`keeps no more memory for each file than async-mutex, by its pool ${pool}`, () => {
        const [ours, theirs] = [bytesPerFile(pool), bytesPerFile(pool, 'async-mutex')]
        assert.ok(
          ours < Math.max(theirs, 0) + 100_000,
          `${ours} bytes a file, and ${theirs} with async-mutex`,
        )
      })
    }
  })

  it('serves projects in CommonJS, in ESM and in TypeScript', () => {
    const source = `import { Mutex, type Releaser } from 'boxoffice'
      import { redis } from 'boxoffice/redis'
      const releaser: Releaser = await new Mutex().acquire()
      releaser()
      console.log(typeof redis)\n`
    const where = empty({
      'cjs.cjs': "console.log(typeof require('boxoffice').Mutex)",
      'esm.mjs': "import { Mutex } from 'boxoffice'; console.log(typeof Mutex)",
      'typed.mts': source,
    })
    install(where, 'npm11')
    assert.equal(ok(where, nodeOf(24), ['cjs.cjs']), 'function')
    assert.equal(ok(where, nodeOf(24), ['esm.mjs']), 'function')
    const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    const types = ['--typeRoots', path.join(root, 'node_modules', '@types'), '--types', 'node']
    for (const [module, resolution] of [
      ['esnext', 'bundler'],
      ['nodenext', 'nodenext'],
      ['node16', 'node16'],
    ]) {
      ok(where, nodeOf(24), [
        ...[tsc, '--strict', '--target', 'es2022', '--lib', 'es2022,esnext.disposable', ...types],
        ...['--module', module, '--moduleResolution', resolution, 'typed.mts'],
      ])
      assert.equal(ok(where, nodeOf(24), ['typed.mjs']), 'function')
    }
  })

  it('prefers the musl binary if the process has mapped musl, and reports what it has tried', () => {
    const where = empty()
    install(where, 'npm11')
    const prebuilds = path.join(where.installed, 'prebuilds')
    const muslMaps = `const fs = require('node:fs')
      const read = fs.readFileSync
      fs.readFileSync = (name, ...rest) => name === '/proc/self/maps' ? '7f00 /lib/ld-musl-x86_64.so.1' : read(name, ...rest)
      new (require('boxoffice').Mutex)({ name: 'tickets' })`
    rmSync(path.join(prebuilds, `${here}-musl`), { recursive: true, force: true })
    const { status, stderr } = where.run(nodeOf(24), ['-e', muslMaps])
    assert.equal(status, 1)
    assert.match(stderr, new RegExp(`prebuilds/${here}-musl/boxoffice.node: is not there`))
    renameSync(path.join(prebuilds, here), path.join(prebuilds, `${here}-musl`))
    ok(where, nodeOf(24), ['-e', muslMaps])
  })

  it('is built from source by the command in its error, if no binary fits', () => {
    const where = empty()
    install(where, 'npm11')
    const prebuilt = path.join(where.installed, 'prebuilds', here, 'boxoffice.node')
    copyFileSync(path.join(__dirname, 'user', 'smoke.cjs'), prebuilt) // as if of another system
    const { status, stderr } = where.run(nodeOf(24), ['smoke.cjs'])
    assert.equal(status, 1)
    assert.match(stderr, /npx boxoffice-build/)
    assert.match(stderr, /prebuilds.*boxoffice\.node: .*(ELF|file too short)/)

    const [program, args] = npm('npm11')
    const quick = ['-DCMAKE_CXX_FLAGS_RELEASE=-O0', '-DCMAKE_UNITY_BUILD=ON']
    const command = [...args, 'exec', '--no', '--', 'boxoffice-build', 'addon', ...quick]
    ok(where, program, command, { path: process.env.PATH })
    assert.ok(where.has('build/release/boxoffice.node'))
    assert.equal(ok(where, nodeOf(24), ['smoke.cjs']), here)
  })
})
