'use strict'
const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { createInterface } = require('node:readline')
const { text } = require('node:stream/consumers')
const boxoffice = require('boxoffice')
const { skip } = require('../helpers/skip.js')

const root = path.join(__dirname, '..', '..')

function node(args, env) {
  return spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
}

describe('the package', () => {
  it('names the platform it was built for', () => {
    assert.equal(boxoffice.platform, `${process.platform}-${process.arch}`)
  })

  it('is the same through import and require', async () => {
    const { default: whole, ...imported } = await import('boxoffice')
    assert.equal(whole, boxoffice)
    for (const [name, value] of Object.entries(boxoffice)) assert.equal(imported[name], value)
    assert.deepEqual(Object.keys(imported).sort(), Object.keys(boxoffice).sort())
  })

  it('has one inspector through import and require', async () => {
    const { inspector } = require('boxoffice/inspector')
    assert.equal((await import('boxoffice/inspector')).inspector, inspector)
  })

  it('has one instrumentation for OpenTelemetry through import and require', async () => {
    const { BoxofficeInstrumentation } = require('boxoffice/opentelemetry')
    const imported = await import('boxoffice/opentelemetry')
    assert.equal(imported.BoxofficeInstrumentation, BoxofficeInstrumentation)
  })

  const without = { BOXOFFICE_BINARY: path.join(root, 'nowhere.node') }

  it('has the locks of one thread without an addon', () => {
    const code = `
      const all = require('boxoffice')
      const { Barrier, ConditionVariable, CountdownLatch, DiningPhilosophers, KeyedRWLock } = all
      const { AutoResetEvent, KeyedMutex, KeyedSemaphore, ManualResetEvent, Mutex } = all
      const { RecursiveMutex, RWLock, Semaphore, withTimeout } = all
      const main = async () => {
        const mutex = new Mutex()
        const condition = new ConditionVariable()
        const waiting = mutex.runExclusive(() => condition.wait(mutex))
        await mutex.runExclusive(() => condition.notifyOne())
        await waiting
        for (const lock of [mutex, new RWLock(), new RecursiveMutex(), new Semaphore(1)]) {
          await Promise.all([lock.runExclusive(() => {}), lock.runExclusive(() => {})])
        }
        for (const locks of [new KeyedMutex(), new KeyedRWLock(), new KeyedSemaphore(1)]) {
          await Promise.all([locks.runExclusive('a', () => {}), locks.runExclusive('a', () => {})])
        }
        const event = new AutoResetEvent()
        event.signal()
        await event.wait()
        await new ManualResetEvent({ isSet: true }).wait()
        await new CountdownLatch(0).wait()
        const barrier = new Barrier(2)
        await Promise.all([barrier.wait(), barrier.wait()])
        await new DiningPhilosophers(5).runExclusive(0, () => {})
        await withTimeout(mutex, 10).runExclusive(() => {})
        console.log('all')
      }
      main()`
    const { status, stdout, stderr } = node(['-e', code], without)
    assert.deepEqual([status, `${stdout}`, `${stderr}`], [0, 'all\n', ''])
  })

  it('says how to build the addon if a lock of a wider scope needs it', () => {
    const code = "new (require('boxoffice').Mutex)({ shared: true })"
    const { status, stderr } = node(['-e', code], without)
    assert.notEqual(status, 0)
    assert.match(stderr, /boxoffice cannot load its addon for [a-z0-9-]+ with Node\.js v\d+/)
    assert.match(stderr, /npx boxoffice-build .*npm run build/)
    assert.match(stderr, /nowhere\.node: is not there/)
  })

  const permission = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )
  for (const args of [['--no-addons'], [permission, '--allow-fs-read=*']]) {
    it(`says with ${args[0]} which flag allows addons`, () => {
      const code = "new (require('boxoffice').Mutex)({ shared: true })"
      const { status, stderr } = node([...args, '-e', code])
      assert.notEqual(status, 0)
      assert.match(stderr, /start it with --allow-addons/)
      assert.doesNotMatch(stderr, /compiler/)
    })
  }

  it('reads no variable of the environment that Deno refuses', () => {
    const code = `
      const get = (env, name) => {
        if (String(name).startsWith('BOXOFFICE_')) throw new Error('may not read ' + String(name))
        return env[name]
      }
      process.env = new Proxy(process.env, { get })
      globalThis.Deno = { permissions: { querySync: () => ({ state: 'prompt' }) } }
      const { Mutex } = require('boxoffice')
      new Mutex().runExclusive(() => console.log('in'))`
    const { status, stdout, stderr } = node(['-e', code])
    assert.deepEqual([status, stdout, stderr], [0, 'in\n', ''])
  })
})

describe('the build', () => {
  it('says what to install if tools are missing', () => {
    const emptyDir = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
    try {
      const without = { PATH: emptyDir, CXX: '', BOXOFFICE_ZIG: path.join(emptyDir, 'zig') }
      const { status, stderr } = node(['binding/build.js'], without)
      assert.equal(status, 1)
      assert.match(stderr, /needs cmake/)
      assert.match(stderr, /could not be built with zig either: ENOENT/)
      if (process.platform === 'linux') {
        assert.match(stderr, /needs cmake, a C\+\+20 compiler, make/)
        assert.match(stderr, /Debian, Ubuntu: apt install cmake g\+\+ make/)
        assert.match(stderr, /Fedora: +dnf install cmake gcc-c\+\+ make/)
        assert.match(stderr, /Alpine: +apk add cmake g\+\+ make/)
      }
    } finally {
      rmSync(emptyDir, { recursive: true })
    }
  })

  it('names the parts that it can build: in the published package only the addon', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
    try {
      cpSync(path.join(root, 'binding'), path.join(folder, 'binding'), { recursive: true })
      mkdirSync(path.join(folder, 'binding', 'node-api'))
      const build = (part) => node([path.join(folder, 'binding', 'build.js'), part])
      const help = build('--help')
      assert.deepEqual(
        [help.status, help.stdout],
        [0, 'boxoffice-build [addon] [-DNAME=VALUE of cmake ...]\n'],
      )
      const tests = build('tests')
      assert.deepEqual([tests.status, tests.stderr], [1, 'There is no part "tests"; try addon.\n'])
      assert.match(node(['binding/build.js', '--help']).stdout, /\[addon \| tests \| bench\]/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('says what to do in a package that npm pack has made of the repository', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
    try {
      cpSync(path.join(root, 'binding'), path.join(folder, 'binding'), { recursive: true })
      const { stderr } = node([path.join(folder, 'binding', 'build.js')])
      assert.match(stderr, /headers of Node-API are missing: install boxoffice from npm\. In its/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('takes zig where the cmake of the machine is too old', function () {
    if (process.platform === 'win32') skip(this, 'these scripts are no programs on Windows')
    const tools = mkdtempSync(path.join(tmpdir(), 'boxoffice-'))
    const script = (name, ...lines) =>
      writeFileSync(path.join(tools, name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 })
    try {
      const isAsked = 'test "$1" = --version'
      script(
        'cmake',
        `${isAsked} && exit 0`,
        'echo "CMake 3.20 or higher is required." >&2; exit 1',
      )
      for (const name of ['c++', 'make']) script(name, isAsked)
      script('zig', 'test "$1" = c++')
      const env = { PATH: tools, CXX: '', BOXOFFICE_ZIG: path.join(tools, 'zig') }
      const { status, stdout, stderr } = node(['binding/build.js'], env)
      assert.match(stderr, /CMake 3\.20 or higher is required/)
      assert.match(stdout, /on this machine \(see above\): boxoffice is built with zig/)
      assert.match(stderr, /^zig compiles for \S+\nzig compiles for \S+: done in \d+ s$/m)
      assert.equal(status, 0)

      script('zig', 'exit 2')
      const failed = node(['binding/build.js'], env)
      assert.equal(failed.status, 1)
      assert.match(failed.stderr, /needs a newer cmake or C\+\+20 compiler/)
      assert.match(failed.stderr, /could not be built with zig either: see above/)

      const tests = node(['binding/build.js', 'tests'], env)
      assert.equal(tests.status, 1)
      assert.equal(tests.stdout, '')
    } finally {
      rmSync(tools, { recursive: true })
    }
  })

  it('shows how long a step has taken while the step blocks the thread', async () => {
    const code = `
      const { withProgress } = require('./binding/progress.js')
      const wait = () => require('node:fs').readSync(0, Buffer.alloc(1))
      console.log(withProgress('it compiles', wait, 1))`
    const child = spawn(process.execPath, ['-e', code], { cwd: root })
    const [output, ended] = [text(child.stdout), once(child, 'exit')]
    const lines = createInterface(child.stderr)
    const seen = []
    for await (const line of lines) {
      seen.push(line)
      if (seen.length === 3) child.stdin.end('.')
    }
    assert.deepEqual(await ended, [0, null])
    assert.equal(await output, '1\n')
    assert.equal(seen[0], 'it compiles')
    for (const line of seen.slice(1, -1)) assert.match(line, /^it compiles: \d+ s$/)
    assert.match(seen.at(-1), /^it compiles: done in \d+ s$/)
  })

  it('refuses an unknown part', () => {
    const { status, stderr } = node(['binding/build.js', 'castle'])
    assert.equal(status, 1)
    assert.match(stderr, /no part "castle"/)
  })
})
