'use strict'
// A deployment that replaces node_modules in place: what a lock may need is loaded with its class, or when it is
// constructed, and never later.
const assert = require('node:assert/strict')
const { cpSync, mkdtempSync, rmSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { run } = require('../helpers/processes.js')

const root = path.join(__dirname, '..', '..')
const binary = path.resolve(
  process.env.BOXOFFICE_BINARY || path.join(root, 'build', 'release', 'boxoffice.node'),
)

/** Each constructs locks with `options`, and returns what a program does with them until it ends. */
const uses = {
  Mutex: `(options) => {
    const mutex = new all.Mutex(options)
    return async () => {
      const release = await mutex.acquire()
      // Its own holder waits: with diagnostics that may be found to be a deadlock before the time is up.
      await assert.rejects(mutex.acquire({ timeout: 1 }), { code: /^ERR_LOCK_(TIMEOUT|DEADLOCK)$/ })
      await assert.rejects(mutex.acquire({ maxPending: 0 }), { code: 'ERR_LOCK_QUEUE_FULL' })
      const waiting = mutex.acquire()
      mutex.cancel()
      await assert.rejects(waiting)
      const closed = mutex.close()
      await assert.rejects(mutex.acquire(), { code: 'ERR_LOCK_CLOSED' })
      release()
      await closed
    }
  }`,
  KeyedMutex: `(options) => {
    const locks = new all.KeyedMutex(options)
    return async () => {
      ;(await locks.acquire(['a', 'b'], { timeout: 60_000 }))()
      await locks.close()
    }
  }`,
  RWLock: `(options) => {
    const lock = new all.RWLock(options)
    return async () => {
      const reader = await lock.acquireRead()
      const writer = await reader.upgrade()
      writer.downgrade()()
      await lock.onIdle()
      await lock.close()
    }
  }`,
  KeyedRWLock: `(options) => {
    const locks = new all.KeyedRWLock(options)
    return async () => {
      ;(await locks.acquireWrite('a'))()
      await locks.close()
    }
  }`,
  Semaphore: `(options) => {
    const semaphore = new all.Semaphore(2, options)
    return async () => {
      assert.deepEqual(await semaphore.map([1, 2, 3], (item) => 2 * item), [2, 4, 6])
      assert.equal(await semaphore.limit((item) => item)(5), 5)
      await semaphore.close()
    }
  }`,
  KeyedSemaphore: `(options) => {
    const locks = new all.KeyedSemaphore(2, options)
    return async () => {
      ;(await locks.acquire(['a', 'b']))[1]()
      await locks.close()
    }
  }`,
  RecursiveMutex: `(options) => {
    const mutex = new all.RecursiveMutex(options)
    return async () => {
      await mutex.runExclusive(() => mutex.runExclusive(() => mutex.isHeld()))
      await mutex.close()
    }
  }`,
}

/** The same for classes without options of scopes, or without diagnostics. */
const others = {
  withTimeout: `() => {
    const limited = all.withTimeout(new all.Semaphore(1), 1)
    return async () => {
      const [, release] = await limited.acquire()
      await assert.rejects(limited.acquire())
      release()
    }
  }`,
  SingleFlight: `() => {
    const flights = new all.SingleFlight()
    return async () => assert.equal(await flights.do('a', () => 1), 1)
  }`,
  LockManager: `() => {
    const locks = new all.LockManager()
    return async () => {
      assert.equal(await locks.request('a', () => 1), 1)
      await locks.query()
    }
  }`,
  'locks of the navigator': `() => {
    const locks = all.installNavigatorLocks()
    return async () => assert.equal(await locks.request('a', () => 1), 1)
  }`,
  gates: `() => {
    const event = new all.AutoResetEvent()
    const latch = new all.CountdownLatch(1)
    const barrier = new all.Barrier(2)
    const condition = new all.ConditionVariable()
    const mutex = new all.Mutex()
    const table = new all.DiningPhilosophers(3)
    return async () => {
      event.signal()
      await event.wait()
      latch.countDown()
      await latch.wait()
      await Promise.all([barrier.wait(), barrier.wait()])
      await mutex.lock()
      await assert.rejects(condition.wait(mutex, { timeout: 1 }))
      await table.runExclusive(1, () => {})
    }
  }`,
  snapshot: `() => {
    const mutex = new all.Mutex({ diagnostics: true, warnAfter: 60_000 })
    return async () => {
      await mutex.runExclusive(() => {})
      assert.equal((await all.snapshot()).locks.length, 1)
    }
  }`,
}

const openTelemetry = `() => {
  let collect
  const instrument = { add() {}, record() {} }
  const addBatchObservableCallback = (callback) => { collect = callback }
  const meter = new Proxy({ addBatchObservableCallback, removeBatchObservableCallback() {} }, {
    get: (known, name) => known[name] ?? (() => instrument),
  })
  const { BoxofficeInstrumentation } = require(copy + '/lib/diagnostics/opentelemetry/index.js')
  new BoxofficeInstrumentation().setMeterProvider({ getMeter: () => meter })
  const mutex = new all.Mutex({ diagnostics: true })
  return async () => {
    const values = []
    await mutex.lock()
    collect({ observe: (_, value) => values.push(value) })
    mutex.unlock()
    assert.deepEqual(values, [0, 1])
  }
}`

const variants = {
  'one thread': '{}',
  'one thread, with diagnostics': '{ diagnostics: true }',
  'scope process': "{ name: 'deployed' }",
  'scope process, with diagnostics': "{ name: 'deployed', diagnostics: 'counters' }",
  'scope host': "{ name: 'deployed', scope: 'host', directory }",
  'scope host, with maxHold': "{ name: 'timed', scope: 'host', directory, maxHold: 60_000 }",
  'scope host, with diagnostics':
    "{ name: 'deployed', scope: 'host', directory, diagnostics: true }",
}

/** Runs the locks of `pairs` ([use, options]) in a process that removes the package once they are constructed. */
async function deploys(pairs) {
  const folder = mkdtempSync(path.join(tmpdir(), 'boxoffice-deployed-'))
  const copy = path.join(folder, 'package')
  const directory = path.join(folder, 'locks')
  for (const entry of ['lib', 'package.json'])
    cpSync(path.join(root, entry), path.join(copy, entry), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  cpSync(binary, path.join(copy, 'build', 'release', 'boxoffice.node'))
  try {
    const { code, stderr } = await run([
      '-e',
      `'use strict'
      const assert = require('node:assert/strict')
      const copy = ${JSON.stringify(copy)}
      const all = require(copy)
      const directory = ${JSON.stringify(directory)}
      const uses = [${pairs.map(([use, options]) => `(${use})(${options})`).join(',\n')}]
      require('node:fs').rmSync(copy, { recursive: true })
      async function main() { for (const use of uses) await use() }
      main().catch((error) => { console.error(error); process.exit(1) })`,
    ])
    assert.equal(code, 0, stderr)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('After the package has been removed while a program runs', () => {
  for (const [variant, options] of Object.entries(variants)) {
    it(`locks serve and close: ${variant}`, () =>
      deploys(Object.values(uses).map((use) => [use, options])))
  }
  it('other classes serve', () => deploys(Object.values(others).map((use) => [use, ''])))
  it('the instrumentation for OpenTelemetry collects', () => deploys([[openTelemetry, '']]))
})
