'use strict'
// Two copies of the package in one process, as npm installs them for a server and one of its dependencies: of one version,
// which share their locks, and of two versions, which refuse what the other one uses.
const assert = require('node:assert/strict')
const {
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { runCode } = require('../helpers/processes.js')
const ours = require('../..')
const { skip } = require('../helpers/skip.js')

const root = path.join(__dirname, '..', '..')
const binary = process.env.BOXOFFICE_BINARY || path.join(root, 'build', 'release', 'boxoffice.node')
const rounds = 3000

/**
 * Enters and leaves all of them, and counts callers that were not alone. Run here and in a worker.
 */
async function visit({ Mutex, Semaphore, KeyedMutex, locks }, { buffer, seen }, rounds) {
  const mutex = new Mutex({ buffer })
  const named = new Mutex({ name: 'copies' })
  const one = new Semaphore(1, { name: 'copies' })
  const keys = new KeyedMutex({ name: 'copies' })
  const alone = (at) => () => {
    if (Atomics.add(seen, at, 1) !== 0) Atomics.add(seen, 4, 1)
    Atomics.sub(seen, at, 1)
  }
  for (let i = 0; i < rounds; i++) {
    await mutex.runExclusive(alone(0))
    await named.runExclusive(alone(1))
    await one.runExclusive(alone(2))
    await keys.runExclusive('a', alone(3))
    await locks.request('copies', alone(5))
    if (i % 16 === 0) await new Promise(setImmediate)
  }
}

describe('two copies of the package', () => {
  let directory
  let copy
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-copy-'))
    cpSync(path.join(root, 'lib'), path.join(directory, 'lib'), { recursive: true })
    cpSync(path.join(root, 'package.json'), path.join(directory, 'package.json'))
    copy = path.join(directory, 'boxoffice.node')
    cpSync(binary, copy)
  })
  after(() => rmSync(directory, { recursive: true }))

  /** The copy, which this thread can load, too. */
  const theirs = () => {
    const before = process.env.BOXOFFICE_BINARY
    process.env.BOXOFFICE_BINARY = copy
    try {
      const copied = require(path.join(directory, 'lib'))
      // The addon is loaded with the first lock of a wider scope.
      assert.ok(new copied.Mutex({ shared: true }).buffer)
      return copied
    } finally {
      if (before === undefined) delete process.env.BOXOFFICE_BINARY
      else process.env.BOXOFFICE_BINARY = before
    }
  }

  it('decorate locks of each other: a late waiter leaves the queue at once', async () => {
    const { KeyedMutex, tryAcquire, withTimeout } = theirs()
    const locks = [
      new ours.Mutex(),
      new ours.Semaphore(1),
      ours.withTimeout(new ours.Mutex(), 60_000),
      new ours.Mutex({ name: 'decorated' }),
    ]
    for (const lock of locks) {
      const given = await lock.acquire()
      await assert.rejects(withTimeout(lock, 1).acquire(), { code: 'ERR_LOCK_TIMEOUT' })
      await assert.rejects(tryAcquire(lock).acquire(), { code: 'ERR_LOCK_ALREADY_LOCKED' })
      const release = given[1] ?? given
      if (lock.snapshot !== undefined) assert.equal(lock.snapshot().waiting, 0)
      release()
      // A waiter that was left behind would have the lock now.
      assert.equal(lock.isLocked(), false)
    }
    assert.throws(() => ours.withTimeout(new KeyedMutex(), 1), /a keyed lock cannot be decorated/)
  })

  it('share their locks: by memory, by name, by key, by request', async () => {
    const seen = new Int32Array(new SharedArrayBuffer(24))
    const { buffer } = new ours.Mutex({ shared: true })
    const worker = new Worker(
      `const { workerData } = require('node:worker_threads')
       ;(${visit})(require(${JSON.stringify(path.join(directory, 'lib'))}), workerData, ${rounds})`,
      { eval: true, workerData: { buffer, seen }, env: { ...process.env, BOXOFFICE_BINARY: copy } },
    )
    const ended = once(worker, 'exit')
    await Promise.all([
      visit(ours, { buffer, seen }, rounds),
      visit(theirs(), { buffer, seen }, rounds),
    ])
    assert.deepEqual(await ended, [0])
    assert.deepEqual([...seen], [0, 0, 0, 0, 0, 0])
    assert.equal(new Int32Array(buffer)[0], 0)
  })

  it('recognize each other: one copy cannot unlock what the other holds', () => {
    const { buffer } = new ours.Mutex({ shared: true })
    const mutex = new ours.Mutex({ buffer })
    const other = new (theirs().Mutex)({ buffer })
    mutex.tryLock()
    assert.equal(other.tryLock(), false)
    assert.throws(() => other.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
    mutex.unlock()
    assert.ok(other.tryLock())
  })

  it('share their locks of scope host', async () => {
    const options = { scope: 'host', name: 'copies', directory: path.join(directory, 'locks') }
    const mutex = new ours.Mutex(options)
    const same = new (theirs().Mutex)(options)
    const release = await mutex.acquire()
    assert.equal(same.tryLock(), false)
    const next = same.acquire()
    release()
    const second = await next
    assert.equal(mutex.isLocked(), true)
    second()
    assert.equal(mutex.isLocked(), false)
  })
})

/** The same name for the dynamic linker, which hashes it, and another one for a reader. */
const renamed = (digest) =>
  digest.replace(/(?<=.{2})(.)(\d)/, (_, one, next) =>
    String.fromCharCode(one.charCodeAt() - 1, next.charCodeAt() + 33),
  )

describe('two versions of the package', () => {
  let directory
  let code
  let env
  before(function () {
    if (process.platform === 'darwin') skip(this, 'a changed binary has no signature')
    directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'boxoffice-version-')))
    cpSync(path.join(root, 'lib'), path.join(directory, 'lib'), { recursive: true })
    cpSync(path.join(root, 'package.json'), path.join(directory, 'package.json'))
    const text = readFileSync(binary, 'latin1')
    const [, digest] = /boxoffice_process_wide_([0-9a-f]{16})/.exec(text)
    const other = path.join(directory, 'boxoffice.node')
    writeFileSync(other, text.replaceAll(digest, renamed(digest)), 'latin1')
    // The binary is chosen when it is loaded, with the first lock of a wider scope.
    env = { BOXOFFICE_OTHER: other }
    code = `
      const ours = require(${JSON.stringify(root)})
      new ours.Mutex({ shared: true })
      process.env.BOXOFFICE_BINARY = process.env.BOXOFFICE_OTHER
      const theirs = require(${JSON.stringify(path.join(directory, 'lib'))})
      const fails = (action) => {
        try { action() } catch ({ code, message }) { return [code, message] }
        return 'made'
      }`
  })
  after(() => {
    if (directory !== undefined) rmSync(directory, { recursive: true })
  })

  /** What `body` shows in a process with both, and its stderr. */
  async function inBoth(body) {
    const { code: end, shown, stderr } = await runCode(`${code}\n${body}`, env)
    assert.equal(end, 0, stderr)
    return { shown, stderr }
  }
  const usedBy = (title, where) => [
    'ERR_LOCK_MISMATCH',
    `${title} is in use by another copy of boxoffice, at ${where}: install one version`,
  ]

  const kinds = [
    ['mutex', 'Mutex'],
    ['recursive mutex', 'RecursiveMutex'],
    ['semaphore', 'Semaphore', 1],
    ['read-write lock', 'RWLock'],
    ['auto-reset event', 'AutoResetEvent'],
    ['manual-reset event', 'ManualResetEvent'],
    ['countdown latch', 'CountdownLatch', 1],
    ['barrier', 'Barrier', 2],
    ['condition variable', 'ConditionVariable'],
  ]

  it('refuse a name or a buffer that the other one uses, of every kind', async () => {
    const { shown } = await inBoth(`
      const used = []
      for (const [, name, ...start] of ${JSON.stringify(kinds)}) {
        const make = (from, options) => new from[name](...start, options)
        const shared = make(ours, { shared: true })
        used.push(shared, make(ours, { name: 'both' }))
        show([
          fails(() => make(theirs, { name: 'both' })),
          fails(() => make(theirs, { buffer: shared.buffer })),
          fails(() => make(theirs, { name: 'theirs' })),
        ])
      }
      show(used.length)`)
    const expected = kinds.map(([kind]) => [
      usedBy(`the ${kind} "both": this name`, root),
      usedBy(`the ${kind}: this memory`, root),
      'made',
    ])
    assert.deepEqual(shown, [...expected, 2 * kinds.length])
  })

  it('refuse the keyed locks and tables of a name that the other one uses', async () => {
    const { shown } = await inBoth(`
      for (const [name, ...start] of [['KeyedMutex'], ['KeyedSemaphore', 1], ['KeyedRWLock'], ['DiningPhilosophers', 5]]) {
        const make = (from) => new from[name](...start, { name: 'both' })
        make(theirs)
        make(theirs)
        show(fails(() => make(ours)))
      }`)
    for (const [error, message] of shown) {
      assert.equal(error, 'ERR_LOCK_MISMATCH')
      assert.ok(message.endsWith(usedBy('this name', directory)[1]), message)
    }
    assert.equal(shown.length, 4)
  })

  it('reject requests while the other one has used its lock manager', async () => {
    const { shown } = await inBoth(`
      void theirs.locks
      show(await ours.locks.request('a', () => 'granted'))
      for (const ask of [() => theirs.locks.request('b', () => {}), () => theirs.locks.request('b', { ifAvailable: true }, () => {})]) {
        show(await ask().catch(({ code, message }) => [code, message]))
      }
      show(await ours.locks.request('b', () => 'granted'))`)
    const refused = usedBy('the lock manager', root)
    assert.deepEqual(shown, ['granted', refused, refused, 'granted'])
  })

  it('share their locks of scope host, as two processes do', async () => {
    const { shown } = await inBoth(`
      const options = { scope: 'host', name: 'both', directory: ${JSON.stringify(path.join(directory, 'locks'))} }
      const copies = [ours, theirs]
      const mutexes = copies.map(({ Mutex }) => new Mutex({ ...options, maxHold: 60_000 }))
      const release = await mutexes[0].acquire()
      const { fencingToken } = release
      show([mutexes[1].tryLock(), mutexes[1].isLocked(), mutexes[1].snapshot().holderPids.length])
      const next = mutexes[1].acquire()
      while (mutexes[0].snapshot().waiterPids.length === 0) await new Promise(setImmediate)
      release()
      const second = await next
      show([mutexes[0].tryAcquire() === undefined, second.fencingToken > fencingToken])
      second()
      let inside = 0
      let most = 0
      const visits = (lock) => Array.from({ length: 200 }, () => lock(async () => {
        most = Math.max(most, ++inside)
        await null
        inside--
      }))
      const semaphores = copies.map(({ Semaphore }) => new Semaphore(1, options))
      const keys = copies.map(({ KeyedMutex }) => new KeyedMutex(options))
      await Promise.all(semaphores.flatMap((one) => visits((visit) => one.runExclusive(visit))))
      await Promise.all(keys.flatMap((one) => visits((visit) => one.runExclusive('a', visit))))
      show([most, semaphores[0].getValue(), keys[0].isLocked('a'), mutexes[0].isLocked()])`)
    assert.deepEqual(shown, [
      [false, true, 1],
      [true, true],
      [1, 1, false, false],
    ])
  })

  it('give a lock of scope host to the other one when the worker that holds it ends', async () => {
    const { shown } = await inBoth(`
      const options = { scope: 'host', name: 'worker', directory: ${JSON.stringify(path.join(directory, 'locks'))} }
      const mutex = new theirs.Mutex(options)
      const worker = new Worker(\`
        const { Mutex } = require(${JSON.stringify(root)})
        new Mutex(\${JSON.stringify(options)}).tryLock()
        require('node:worker_threads').parentPort.on('message', () => {}).postMessage('held')\`,
        { eval: true, env: { ...process.env, BOXOFFICE_BINARY: ${JSON.stringify(binary)} } })
      await once(worker, 'message')
      const isFree = mutex.tryLock()
      const next = mutex.acquire()
      await worker.terminate()
      show([isFree, (await next).abandoned])`)
    assert.deepEqual(shown, [[false, true]])
  })

  it('can use what the other one has given back', async () => {
    const { shown } = await inBoth(`
      const worker = new Worker(\`
        const { Mutex, locks } = require(${JSON.stringify(root)})
        const mutex = new Mutex({ name: 'of a worker' })
        locks.request('a', () => {}).then(() => require('node:worker_threads').parentPort.postMessage('ready'))
        require('node:worker_threads').parentPort.ref()\`,
        { eval: true, env: { ...process.env, BOXOFFICE_BINARY: ${JSON.stringify(binary)} } })
      await once(worker, 'message')
      const name = 'of a worker'
      show(fails(() => new theirs.Mutex({ name }))[0])
      await worker.terminate()
      const mutex = new theirs.Mutex({ name })
      show(mutex.tryLock())
      show(await theirs.locks.request('a', () => 'granted'))`)
    assert.deepEqual(shown, ['ERR_LOCK_MISMATCH', true, 'granted'])
  })

  it('warn once, with both paths', async () => {
    const { stderr } = await inBoth(
      `
      new theirs.Mutex({ name: 'one' })
      new theirs.Semaphore(1, { name: 'two' })
      const worker = new Worker(\`new (require(${JSON.stringify('__LIB__')}).Mutex)({ name: 'three' })\`, { eval: true })
      await once(worker, 'exit')`.replace('__LIB__', path.join(directory, 'lib')),
    )
    const warnings = stderr.split('\n').filter((line) => line.includes('BoxofficeWarning'))
    assert.equal(warnings.length, 1, stderr)
    assert.match(warnings[0], /\[BOXOFFICE_COPIES\]/)
    assert.ok(
      warnings[0].includes(
        `at ${root} and ${directory}: they share only locks of scope host and over engines`,
      ),
      warnings[0],
    )
  })

  it('share nothing else: each has its own locks of other names', async () => {
    const { shown } = await inBoth(`
      const one = new ours.Mutex({ name: 'a' })
      const other = new theirs.Mutex({ name: 'b' })
      await one.lock()
      show(other.tryLock())`)
    assert.deepEqual(shown, [true])
  })
})
