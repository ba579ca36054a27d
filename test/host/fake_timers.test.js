'use strict'
// Programs that replace the timers and the clock, as test frameworks do, while their first locks are constructed.
const assert = require('node:assert/strict')
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { useHosts } = require('../helpers/hosts.js')
const { FakeTimers } = require('../helpers/timers.js')
const { run, withoutLeaks } = require('../helpers/processes.js')
const { KeyedMutex, Mutex } = require('../..')

const root = path.join(__dirname, '..', '..')
const entry = path.join(root, 'lib', 'index.js')

/** Replaces all timers and clocks by some that never fire, and by a clock that stands still. */
const fakes = `
  const { KeyedMutex, Mutex, RWLock, Semaphore, snapshot } = require(${JSON.stringify(entry)})
  const timers = require('node:timers')
  const promises = require('node:timers/promises')
  const timer = { ref: () => timer, unref: () => timer }
  const originals = []
  function fake(owner, name, value) {
    originals.push([owner, name, owner[name]])
    owner[name] = value
  }
  for (const owner of [globalThis, timers]) {
    for (const name of ['setTimeout', 'setImmediate', 'setInterval']) fake(owner, name, () => timer)
    for (const name of ['clearTimeout', 'clearImmediate', 'clearInterval']) fake(owner, name, () => {})
  }
  fake(promises, 'setTimeout', () => new Promise(() => {}))
  fake(performance, 'now', () => 0)
  fake(Date, 'now', () => 0)
  function restore() {
    for (const [owner, name, value] of originals) owner[name] = value
  }`

/** Whether `code`, in which locks are constructed before restore(), ends without an error. */
async function passes(code, ...args) {
  const {
    code: status,
    signal,
    stderr,
  } = await run(
    [
      '-e',
      `'use strict'
    ${fakes}
    const directory = process.argv[1]
    const alive = timers.setInterval
    async function main() { ${code} }
    main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1) })`,
      ...args,
    ],
    { timeout: 20_000, env: withoutLeaks },
  )
  assert.deepEqual([status, signal, stderr], [0, null, ''])
}

describe('Locks that were first constructed while the timers were fakes', () => {
  const hosts = useHosts()

  it("end holds after maxHold, and rests after minHold, at scope 'host'", () =>
    passes(
      `const options = (name) => ({ scope: 'host', name, directory, maxHold: 100, minHold: 100 })
      const mutex = new Mutex(options('a'))
      const semaphore = new Semaphore(1, options('b'))
      const lock = new RWLock(options('c'))
      restore()
      await Promise.all([mutex.acquire(), semaphore.acquire(), lock.acquireWrite()])
      const [release, [, releaseUnit], releaseWrite] = await Promise.all([
        mutex.acquire(), semaphore.acquire(), lock.acquireWrite()])
      release()
      releaseUnit()
      releaseWrite()
      const last = [mutex.acquire(), semaphore.acquire(), lock.acquireRead()]
      await Promise.all(last)`,
      hosts.directory,
    ))

  it('warn of long holds, and tell their times', () =>
    passes(`const warned = new Promise((resolve) => {
        process.emitWarning = (message) => resolve(message)
      })
      const mutex = new Mutex({ diagnostics: true, warnAfter: 20, name: 'watched' })
      restore()
      const release = await mutex.acquire()
      const time = Number(/held for (\\d+) ms/.exec(await warned)[1])
      if (!(time >= 20)) throw new Error('held for ' + time)
      const { holders } = (await snapshot()).locks[0]
      if (!(holders[0].heldFor >= 20)) throw new Error('held for ' + holders[0].heldFor)
      release()`))

  it('count the time of blocking calls for several keys', () =>
    passes(`const locks = new KeyedMutex({ name: 'keys', allowBlockingMainThread: true })
      const waiting = new KeyedMutex({ name: 'others', allowBlockingMainThread: true })
      waiting.acquireSync(['x', 'y'], { timeout: 50 })()
      restore()
      const { Worker } = require('node:worker_threads')
      const held = new Worker(
        'const { KeyedMutex } = require(' + JSON.stringify(${JSON.stringify(entry)}) + ');' +
        "new KeyedMutex({ name: 'keys' }).acquireSync(['b', 'c']); require('node:worker_threads').parentPort.postMessage(1);" +
        'setInterval(() => {}, 1000)', { eval: true })
      await new Promise((resolve) => held.once('message', resolve))
      const start = process.hrtime.bigint()
      try {
        locks.acquireSync(['a', 'b', 'c'], { timeout: 50 })
      } catch ({ code }) {
        if (code !== 'ERR_LOCK_TIMEOUT') throw new Error(code)
      }
      if (process.hrtime.bigint() - start < 45_000_000n) throw new Error('too early')`))
})

describe('A wait whose timer belongs to a clock that is replaced meanwhile', () => {
  /** Begins by `wait(timeout)` under one clock, and grants under the other. Returns the timers left of each. */
  async function timersLeft(isRealFirst, wait) {
    const real = []
    const { setTimeout, clearTimeout } = globalThis
    globalThis.setTimeout = (...args) => {
      const timer = setTimeout(...args)
      real.push(timer)
      return timer
    }
    globalThis.clearTimeout = (timer) => {
      real.splice(real.indexOf(timer), 1)
      clearTimeout(timer)
    }
    const fake = new FakeTimers()
    try {
      if (!isRealFirst) fake.install()
      const { granted, grant } = wait(60_000)
      if (isRealFirst) fake.install()
      else fake.uninstall()
      grant()
      await granted
      return [real.length, fake.pending]
    } finally {
      if (isRealFirst) fake.uninstall()
      for (const timer of real) clearTimeout(timer)
      Object.assign(globalThis, { setTimeout, clearTimeout })
    }
  }

  const waits = {
    'a wait': (timeout) => {
      const mutex = new Mutex()
      mutex.tryLock()
      return { granted: mutex.lock({ timeout }), grant: () => mutex.unlock() }
    },
    'a wait for several keys': (timeout) => {
      const locks = new KeyedMutex()
      const grant = locks.tryAcquire('b')
      return { granted: locks.acquire(['a', 'b'], { timeout }), grant }
    },
  }

  for (const [name, wait] of Object.entries(waits)) {
    it(`leaves no timer: ${name}, begun with real timers`, async () => {
      assert.deepEqual(await timersLeft(true, wait), [0, 0])
    })

    it(`leaves no timer: ${name}, begun with fakes`, async () => {
      assert.deepEqual(await timersLeft(false, wait), [0, 0])
    })
  }
})

describe('The files of lib/', () => {
  /** Their timers are those of a thread of its own, or of a page. */
  const others = [path.join('cluster', 'keeper_thread.js'), path.join('core', 'builtins.js')]
  const pages = path.join('diagnostics', 'inspector', 'page')

  it('take clocks and timers from one of them only', () => {
    const all = readdirSync(path.join(root, 'lib'), { recursive: true })
    const scripts = all.filter((file) => file.endsWith('.js') && !file.startsWith(pages))
    const takers = scripts.filter((file) =>
      /require\('node:(?:timers|perf_hooks)|\bperformance\.now\(/.test(
        readFileSync(path.join(root, 'lib', file), 'utf8'),
      ),
    )
    assert.deepEqual(
      takers.filter((file) => !others.includes(file)),
      [],
    )
  })
})
