'use strict'
// A thread whose event loop runs empty while callers wait says so on stderr.
const assert = require('node:assert/strict')
const { entry, run, withoutLeaks } = require('../helpers/processes.js')

const advice = 'set BOXOFFICE_DIAGNOSTICS=1 to see who holds them\n'
const heading = (what) =>
  `boxoffice: the event loop has run empty, and ${what} pending that nothing can end:\n`

/** The end of a process that runs `code`, in which `all` is the package. */
const endOf = (code, args = []) =>
  run([...args, '-e', `const all = require(${JSON.stringify(entry)}); ${code}`], {
    env: { BOXOFFICE_DIAGNOSTICS: '', ...withoutLeaks },
  })
async function saidBy(code, args) {
  const { code: exitCode, stderr } = await endOf(code, args)
  assert.equal(exitCode, 0, stderr)
  return stderr
}

/** Code that leaves a caller of `mutex` waiting. */
const stuck = 'const mutex = new all.Mutex(); mutex.acquire(); mutex.acquire();'

describe('a process whose event loop runs empty while callers wait', function () {
  this.timeout(60_000)

  it('says so, of a chain that waits for itself', async () => {
    const stderr = await saidBy(`
      const carts = new all.KeyedMutex()
      const addItem = (user) => carts.runExclusive(user, () => {})
      const checkout = (user) => carts.runExclusive(user, () => addItem(user))
      checkout('ada')`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex of key "ada"\n${advice}`)
  })

  it('counts waits that are strictly first come, first served', async () => {
    const stderr = await saidBy(`
      const mutex = new all.Mutex({ name: 'm', fairness: 'fifo' })
      mutex.acquire(); mutex.acquire(); mutex.acquire()`)
    assert.equal(stderr, `${heading('2 waits are')}  2 for the mutex "m"\n${advice}`)
  })

  it('gives no advice for the locks of a LockManager, which have no diagnostics', async () => {
    const stderr = await saidBy(`all.locks.acquire('a'); all.locks.acquire('a')`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the lock "a"\n`)
  })

  it('counts the waits of each lock, of every kind', async () => {
    const stderr = await saidBy(`
      const mutex = new all.Mutex({ name: 'm' })
      mutex.acquire(); mutex.acquire(); mutex.lock(); mutex.waitForUnlock()
      const semaphore = new all.Semaphore(1)
      semaphore.acquire(); semaphore.acquire(); semaphore.waitForUnlock()
      const shared = new all.Semaphore(1, { name: 's' })
      shared.acquire(); shared.acquire()
      const lock = new all.RWLock()
      lock.acquireRead(); lock.acquireWrite(); lock.acquireRead()
      const recursive = new all.RecursiveMutex()
      recursive.runExclusive(() => new Promise(() => {})); recursive.runExclusive(() => {})
      all.locks.acquire('a'); all.locks.acquire('a')`)
    const [first, ...lines] = stderr.split('\n')
    assert.equal(`${first}\n`, heading('10 waits are'))
    assert.deepEqual(lines.slice(0, -2).toSorted(), [
      '  1 for the lock "a"',
      '  1 for the recursive mutex',
      '  1 for the semaphore "s"',
      '  2 for the read-write lock',
      '  2 for the semaphore',
      '  3 for the mutex "m"',
    ])
  })

  it('counts a reader that waits to upgrade', async () => {
    for (const lock of ['lock = new all.RWLock()', 'lock = new all.KeyedRWLock()']) {
      const key = lock.includes('Keyed') ? "'a'" : ''
      const stderr = await saidBy(`
        const ${lock}
        lock.acquireRead(${key})
        lock.acquireRead(${key}).then((release) => release.upgrade())`)
      assert.match(stderr, /\n {2}1 for the read-write lock/)
    }
  })

  it('says where a lock was made with diagnostics, and prints the last deadlock', async () => {
    const stderr = await saidBy(`
      function makesOne() { return new all.Mutex({ diagnostics: true }) }
      const [a, b] = [makesOne(), makesOne()]
      async function holdsBoth(one, other) {
        await one.acquire()
        await new Promise(setImmediate)
        await other.acquire()
      }
      Promise.allSettled([holdsBoth(a, b), holdsBoth(b, a)])`)
    const place = String.raw`made at makesOne \(\[eval\]:2:\d+\)`
    assert.match(
      stderr,
      new RegExp(
        `\n {2}1 for the mutex ${place}, which is held by the main thread .* at holdsBoth`,
      ),
    )
    assert.match(
      stderr,
      new RegExp(
        `\na deadlock was refused before: the mutex ${place} not acquired: deadlock of 2 `,
      ),
    )
  })

  it('counts close() and onIdle() behind a hold that waits for them', async () => {
    const stderr = await saidBy(`
      const mutex = new all.Mutex({ name: 'm', diagnostics: false })
      mutex.runExclusive(() => mutex.close())
      const shared = new all.Semaphore(1, { name: 's' })
      shared.acquire(); shared.onIdle(); shared.onIdle()
      const recursive = new all.RecursiveMutex()
      recursive.runExclusive(() => recursive.close())
      const keyed = new all.KeyedMutex()
      keyed.runExclusive('free', () => {})
      keyed.runExclusive('ada', () => keyed.close())
      const left = new all.Mutex()
      left.acquire().then((release) => { left.onIdle(); setTimeout(release, 1) })`)
    const [first, ...lines] = stderr.split('\n')
    assert.equal(`${first}\n`, heading('4 waits are'))
    assert.deepEqual(lines.slice(0, -2).toSorted(), [
      '  close() or onIdle() of the mutex "m"',
      '  close() or onIdle() of the mutex of key "ada"',
      '  close() or onIdle() of the recursive mutex',
      '  close() or onIdle() of the semaphore "s"',
    ])
  })

  it('names the holder of a lock with diagnostics', async () => {
    const stderr = await saidBy(`
      const mutex = new all.Mutex({ diagnostics: 'counters' }); mutex.acquire(); mutex.acquire()`)
    assert.match(stderr, /\n {2}1 for the mutex, which is held by the main thread since .* ms\)\n$/)
  })

  it('names the holder of a recursive mutex, also for callers that wait inside', async () => {
    const stderr = await saidBy(`
      const mutex = new all.RecursiveMutex({ diagnostics: 'counters' })
      mutex.runExclusive(() => {
        mutex.runExclusive(() => new Promise(() => {}))
        mutex.runExclusive(() => {})
      })
      mutex.runExclusive(() => {})`)
    assert.equal(stderr.split('\n', 1)[0], heading('2 waits are').trim())
    assert.match(
      stderr,
      /\n {2}2 for the recursive mutex, which is held by the main thread since .*\n$/,
    )
  })

  it('names ten locks of many', async () => {
    const stderr = await saidBy(`
      const locks = new all.KeyedMutex()
      for (let key = 0; key < 12; key++) { locks.acquire(key); locks.acquire(key) }`)
    const lines = stderr.split('\n')
    assert.equal(`${lines[0]}\n`, heading('12 waits are'))
    assert.equal(lines.filter((line) => /^ {2}1 for the mutex of key/.test(line)).length, 10)
    assert.equal(lines.at(-3), '  and for 2 more locks')
  })

  it('says so once, where listeners give the event loop more to do', async () => {
    const stderr = await saidBy(`${stuck}
      let left = 3
      process.on('beforeExit', () => left-- > 0 && setTimeout(() => {}, 1))`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex\n${advice}`)
  })

  it('says so in a worker', async () => {
    const code = `const all = require(${JSON.stringify(entry)}); ${stuck}`
    const stderr = await saidBy(
      `new (require('node:worker_threads').Worker)(${JSON.stringify(code)}, { eval: true })`,
    )
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex\n${advice}`)
  })

  const silent = {
    'after process.exit()': `${stuck} setTimeout(() => process.exit(), 1)`,
    'after process.exit() without a stack': `${stuck}
      process.on('beforeExit', () => { Error.stackTraceLimit = 0; process.exit() })`,
    'after process.exit() in a listener of the empty loop': `${stuck}
      process.on('beforeExit', () => process.exit())`,
    'after a call through a kept reference to process.exit': `${stuck}
      const { exit } = process
      process.on('beforeExit', () => exit())`,
    'after process.exit as a callback': `${stuck}
      process.once('beforeExit', () => setTimeout(process.exit, 1))`,
    'after process.exit() in an async listener of the empty loop': `${stuck}
      process.on('beforeExit', async () => { await null; process.exit() })`,
    'where a listener lets the waiter in': `
      const mutex = new all.Mutex()
      mutex.acquire().then((release) => process.once('beforeExit', release))
      mutex.acquire()`,
    'of waits that have ended': `
      const mutex = new all.Mutex()
      mutex.acquire().then((release) => release())
      mutex.acquire({ timeout: 1000 }).then((release) => release())
      mutex.waitForUnlock()`,
    'of consumers that wait for a signal, or for other parties': `
      new all.AutoResetEvent().wait(); new all.CountdownLatch(1).wait()
      new all.Barrier(2).wait(); new all.Barrier(2, { name: 'b' }).wait()
      new all.Semaphore(0).acquire(); new all.Semaphore(0, { name: 's' }).acquire()`,
    'where process is frozen, and lets callers wait': `
      all.Mutex; require('node:worker_threads'); Object.freeze(process)
      ${stuck} new all.Semaphore(0, { shared: true }).acquire()`,
    'of a lock that has been collected': `
      (() => { ${stuck} })()
      setTimeout(() => setTimeout(gc, 1), 1)`,
  }
  for (const [when, code] of Object.entries(silent)) {
    it(`says nothing ${when}`, async () => {
      assert.equal(await saidBy(code, ['--expose-gc']), '')
    })
  }

  it('needs no global process', async () => {
    const stderr = await saidBy(`all.Mutex; globalThis.process = undefined; ${stuck}`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex\n${advice}`)
  })

  it('does not call a program that formats stacks its own way', async () => {
    const stderr = await saidBy(`${stuck}
      process.on('beforeExit', () => {
        Error.prepareStackTrace = () => { throw new Error('mine') }
      })`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex\n${advice}`)
  })

  it('says so where Error is frozen', async () => {
    const stderr = await saidBy(`${stuck} Object.freeze(Error)`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex\n${advice}`)
  })

  it('says so below other listeners of events', async () => {
    const stderr = await saidBy(`${stuck}
      const { emit } = process
      process.emit = function exit(...all) { return Reflect.apply(emit, process, all) }`)
    assert.equal(stderr, `${heading('1 wait is')}  1 for the mutex\n${advice}`)
  })

  it('says nothing after an error', async () => {
    const { code, stderr } = await endOf(`${stuck}
      process.once('beforeExit', () => setTimeout(() => { throw new Error('mine') }, 1))`)
    assert.equal(code, 1)
    assert.match(stderr, /mine/)
    assert.doesNotMatch(stderr, /boxoffice: the event loop/)
  })

  it('has one listener for all instances of the package', async () => {
    const { shown, stderr } = await endOf(`
      const path = ${JSON.stringify(entry)}
      const count = () => ['beforeExit', 'exit'].map((name) => process.listenerCount(name))
      const before = count()
      for (let i = 0; i < 20; i++) {
        for (const file in require.cache) delete require.cache[file]
        const { Mutex, Semaphore } = require(path)
        const mutex = new Mutex()
        mutex.acquire()
        mutex.acquire()
        new Semaphore(0, { shared: true }).acquire()
      }
      console.log(JSON.stringify(count().map((now, i) => now - before[i])))`)
    assert.deepEqual(shown, [[1, 1]])
    assert.doesNotMatch(stderr, /MaxListeners/)
  })
})
