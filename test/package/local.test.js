'use strict'
// boxoffice/local: the locks of one thread, without Node.js.
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { builtinModules } = require('node:module')
const path = require('node:path')
const vm = require('node:vm')
const { gzipSync } = require('node:zlib')
const esbuild = require('esbuild')
const { exports: entries } = require('../../package.json')
const boxoffice = require('../..')
const local = require('boxoffice/local')

const root = path.join(__dirname, '..', '..')
/** The entry, for programs that know nothing of this folder. */
const file = JSON.stringify(path.join(root, 'lib/locks/index.mjs'))
const wide = [
  'installNavigatorLocks',
  'LeaderElection',
  'Lock',
  'LockManager',
  'locks',
  'platform',
  'snapshot',
]

/** The output of esbuild, without options for this package, and the files in it. */
async function bundle(code, options) {
  const { metafile, outputFiles } = await esbuild.build({
    stdin: { contents: code, resolveDir: __dirname },
    bundle: true,
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    absWorkingDir: root,
    logLevel: 'silent',
    ...options,
  })
  const [{ inputs }] = Object.values(metafile.outputs)
  const files = Object.keys(inputs).filter((file) => inputs[file].bytesInOutput > 0)
  return { text: outputFiles[0].text, files }
}

/** What a program prints that knows nothing of this folder. */
const printed = (text, ...args) =>
  execFileSync(process.execPath, [...args, '--input-type=module', '-e', text], {
    encoding: 'utf8',
    cwd: path.parse(root).root,
  })

describe('boxoffice/local', () => {
  it('has the locks of boxoffice that are of one thread, and the same ones', async () => {
    const imported = await import('boxoffice/local')
    const names = Object.keys(boxoffice).filter((name) => !wide.includes(name))
    assert.deepEqual(Object.keys(local), names)
    assert.deepEqual(Object.keys(imported).sort(), [...names].sort())
    for (const name of names) {
      assert.equal(local[name], boxoffice[name], name)
      assert.equal(imported[name], boxoffice[name], name)
    }
  })

  it('is what browsers, workers, edge runtimes and React Native get for boxoffice', () => {
    const { browser, ...others } = entries['.']
    assert.deepEqual(browser, entries['./local'])
    for (const condition of ['edge-light', 'workerd', 'react-native', 'worker'])
      assert.deepEqual(others[condition], browser, condition)
  })

  it('has no module of Node.js, and none of its globals', async () => {
    const code = "import * as all from 'boxoffice'; console.log(Object.keys(all))"
    const { text, files } = await bundle(code, { platform: 'browser', minify: false })
    const folders = new Set(files.map((file) => file.split('/').slice(0, 2).join('/')))
    assert.deepEqual([...folders].sort(), ['<stdin>', 'lib/core', 'lib/locks', 'lib/options'])
    for (const name of builtinModules) assert.ok(!text.includes(`require("${name}")`), name)
    const ofNode = /\bnode:|\bprocess\.|\b(?:Buffer|setImmediate|__dirname|__filename)\b/
    assert.equal(text.match(ofNode), null)
  })

  it('works where there is nothing but the timers and the signals of the web', async () => {
    const code = `import { KeyedMutex, Mutex, Semaphore } from 'boxoffice'
      const after = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
      globalThis.played = (async () => {
        const mutex = new Mutex()
        const stop = new AbortController()
        await mutex.acquire()
        const late = mutex.acquire({ timeout: 1 }).catch(({ code }) => code)
        const stopped = mutex.acquire({ signal: stop.signal }).catch(({ name }) => name)
        stop.abort()
        const keyed = new KeyedMutex()
        const seen = []
        const visit = (user) => keyed.runExclusive(user, async () => {
          seen.push('in')
          await after(1)
          seen.push('out')
        })
        await Promise.all([visit('ann'), visit('ann')])
        const doubled = await new Semaphore(2).map([1, 2, 3], (n) => 2 * n)
        return [await late, await stopped, seen.join(), doubled.join()].join(' ')
      })()`
    const { text } = await bundle(code, { platform: 'browser', format: 'iife' })
    const { AbortController, AbortSignal, clearTimeout, DOMException, performance } = globalThis
    const globals = { AbortController, AbortSignal, clearTimeout, DOMException, performance }
    const context = vm.createContext({ ...globals, queueMicrotask, setTimeout })
    vm.runInContext(text, context)
    assert.equal(await context.played, 'ERR_LOCK_TIMEOUT AbortError in,out,in,out 2,4,6')
  })

  it('works where a call of process.getBuiltinModule() throws, as in the edge runtime of Next.js', () => {
    const code = `process.getBuiltinModule = (name) => { throw new Error(name + ' is not supported') }
      const { Mutex, RecursiveMutex } = await import(${file})
      const mutex = new Mutex()
      const stop = new AbortController()
      mutex.runExclusive(() => new Promise((resolve) => setTimeout(resolve, 1)))
      const stopped = mutex.acquire({ signal: stop.signal }).catch(({ name }) => name)
      stop.abort()
      console.log(await stopped, await mutex.runExclusive(() => 'in'))
      try { mutex.runExclusiveSync(() => {}) } catch ({ message }) { console.log(message.match(/main thread/)[0]) }
      try { new RecursiveMutex() } catch ({ code }) { console.log(code) }
      globalThis.AsyncLocalStorage = (await import('node:async_hooks')).AsyncLocalStorage
      const recursive = new RecursiveMutex()
      console.log(await recursive.runExclusive(() => recursive.runExclusive(() => 'twice')))`
    assert.equal(printed(code), 'AbortError in\nmain thread\nERR_LOCK_UNSUPPORTED\ntwice\n')
  })

  it('refuses options of wider scopes, and says where they work', () => {
    const refused = [
      'new Mutex({ name: "a" })',
      'new Semaphore(1, { scope: "host", name: "a" })',
      'new RWLock({ shared: true })',
      'new KeyedMutex({ engine: {} })',
      'new Barrier(2, { diagnostics: true })',
      'new RecursiveMutex({ maxHold: 1000 })',
      'new DiningPhilosophers(5, { name: "a" })',
      'new SingleFlight({ name: "a" })',
      'new KeyedMutex({ reentrant: true })',
    ]
    const code = `const all = await import(${file})
      for (const each of ${JSON.stringify(refused)}) {
        try {
          Function(...Object.keys(all), each)(...Object.values(all))
        } catch ({ code, message }) {
          console.log(code, message)
        }
      }`
    const lines = printed(code).trim().split('\n')
    assert.equal(lines.length, refused.length)
    for (const line of lines)
      assert.match(line, /^ERR_LOCK_UNSUPPORTED .*in Node\.js import 'boxoffice'/i)
  })

  it('takes an option that is off', () => {
    const code = `const { KeyedMutex, Semaphore } = await import(${file})
      new Semaphore(1, { diagnostics: false, shared: false }).acquire().then(() => console.log('in'))
      new KeyedMutex({ diagnostics: false }).runExclusive('a', () => console.log('in'))`
    assert.equal(printed(code), 'in\nin\n')
  })

  it('takes reentrant: false, and checks it', () => {
    const code = `const { KeyedMutex, Mutex } = await import(${file})
      new KeyedMutex({ reentrant: false }).runExclusive('a', () => console.log('in'))
      for (const make of [() => new KeyedMutex({ reentrant: 1 }), () => new Mutex({ reentrant: false })]) {
        try {
          make()
        } catch ({ message }) {
          console.log(message)
        }
      }`
    assert.match(
      printed(code),
      /^reentrant must be a boolean, not 1\nunknown option "reentrant": a KeyedMutex has it.*\nin\n$/,
    )
  })

  it('has recursive mutexes in Node.js, and knows its workers', () => {
    const inWorker = `import(${file}).then(({ Mutex }) => console.log(typeof new Mutex().acquireSync()))`
    const code = `const { Mutex, RecursiveMutex } = await import(${file})
      const mutex = new RecursiveMutex()
      await mutex.runExclusive(() => mutex.runExclusive(() => console.log('in')))
      try {
        new Mutex().acquireSync()
      } catch ({ message }) {
        console.log(message)
      }
      const { Worker } = await import('node:worker_threads')
      new Worker(${JSON.stringify(inWorker)}, { eval: true })`
    assert.match(printed(code), /^in\nacquireSync\(\) would block the main thread .*\nfunction\n$/)
  })

  it('lets no other listener of a signal keep a wait from its end in Node.js', () => {
    const code = `const { Mutex } = await import(${file})
      const stop = new AbortController()
      stop.signal.addEventListener('abort', (event) => event.stopImmediatePropagation(), { capture: true })
      const mutex = new Mutex()
      await mutex.acquire()
      const wait = mutex.acquire({ signal: stop.signal })
      stop.abort('stopped')
      await wait.catch(console.log)`
    assert.equal(printed(code), 'stopped\n')
  })

  it('has locks of all scopes as soon as boxoffice is loaded, too', () => {
    const code = `const { Mutex } = await import(${file})
      await import(${JSON.stringify(path.join(root, 'lib/index.mjs'))})
      await new Mutex({ name: 'a' }).runExclusive(() => console.log('in'))`
    assert.equal(printed(code), 'in\n')
  })
})

describe('a bundle by esbuild', () => {
  const using = (name, from) => `import { ${name} } from '${from}'; globalThis.it = ${name}`
  const bars = [
    ['one Mutex', using('Mutex', 'boxoffice/local'), {}, 11.6],
    ['one KeyedMutex', using('KeyedMutex', 'boxoffice/local'), {}, 14.1],
    [
      'all of boxoffice/local',
      "import * as all from 'boxoffice/local'; globalThis.it = all",
      {},
      28.7,
    ],
    ['one Mutex of boxoffice for Node.js', using('Mutex', 'boxoffice'), { platform: 'node' }, 20],
  ]
  for (const [what, code, options, most] of bars) {
    it(`of ${what} has at most ${most} KB in gzip`, async () => {
      const { text } = await bundle(code, options)
      const size = gzipSync(text, { level: 9 }).length
      assert.ok(size <= most * 1000, `${size} bytes`)
    })
  }

  it('for Node.js, as an ES module, names the line that wider scopes need', async () => {
    const code = `import { Mutex, snapshot } from 'boxoffice'
      await new Mutex().runExclusive(() => console.log('in'))
      for (const make of [() => new Mutex({ name: 'a' }), () => new Mutex({ diagnostics: true }), snapshot]) {
        try {
          make()
        } catch ({ message }) {
          console.log(message.includes('esbuild: --external:boxoffice'))
        }
      }`
    const { text } = await bundle(code, { platform: 'node' })
    assert.equal(printed(text), 'in\ntrue\ntrue\ntrue\n')
  })

  it('for Node.js has reentrant locks, which need no addon', async () => {
    const code = `import { KeyedMutex } from 'boxoffice'
      const keys = new KeyedMutex({ reentrant: true })
      await keys.runExclusive('a', () => keys.runExclusive('a', () => console.log('in')))`
    const { text } = await bundle(code, { platform: 'node' })
    assert.equal(printed(text), 'in\n')
  })
})
