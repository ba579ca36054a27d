'use strict'
// What a thread keeps of locks of a name that nothing uses any more.
const assert = require('node:assert/strict')
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { inChild } = require('../helpers/children.js')
const { removeDirectory } = require('../helpers/hosts.js')

/** Uses a lock of `options`, with a name of its own. */
const keyedUses = {
  KeyedMutex: `const locks = new KeyedMutex(options)
    locks.tryAcquire('a')()
    await locks.runExclusive('b', () => {})`,
  KeyedSemaphore: `const locks = new KeyedSemaphore(2, options)
    locks.tryAcquire('a')[1]()
    await locks.runExclusive('b', () => {})`,
  KeyedRWLock: `const locks = new KeyedRWLock(options)
    locks.tryAcquireWrite('a')()
    ;(await locks.acquireRead('b'))()`,
  'KeyedMutex with diagnostics': `const locks = new KeyedMutex({ ...options, diagnostics: 'counters' })
    await locks.runExclusive('b', () => {})`,
}
const processUses = {
  ...keyedUses,
  DiningPhilosophers: `const table = new DiningPhilosophers(5, options)
    table.tryBegin(0)()
    await table.runExclusive(1, () => {})`,
}
const hostUses = {
  ...keyedUses,
  Mutex: `await new Mutex(options).runExclusive(() => {})`,
  Semaphore: `await new Semaphore(2, options).runExclusive(() => {})`,
  CountdownLatch: `new CountdownLatch(1, options).countDown()`,
  LockManager: `await new LockManager(options).request('a', () => {})`,
}

const library = `const {
    CountdownLatch, DiningPhilosophers, KeyedRWLock, LockManager, snapshot,
  } = require(entry)
  let names = 0
  async function use(traits, act) {
    const name = 'name ' + names++
    await act({ name, ...traits })
  }`

/** The last output of `code`. */
async function shown(code) {
  const lines = await inChild(`${library}\n${code}`, '--expose-gc')
  return lines.at(-1)
}

/** Uses locks of so many names. One object for each would be too much. */
async function checkUse(count, traits, code) {
  const most = { objects: count / 2 }
  const more = await shown(`
    const act = async (options) => { ${code} }
    const round = async () => { for (let i = 0; i < ${count}; i++) await use(${traits}, act) }
    await round()
    show(await growth(round, ${JSON.stringify(most)}))`)
  assert.ok(more.objects <= most.objects, `${more.objects} objects more for ${count} names`)
}

/** The same for full diagnostics, whose steps would hide what is kept (lib/diagnostics/steps.js). */
const watchedUses = {
  KeyedMutex: `const locks = new KeyedMutex(options)
    await locks.runExclusive('b', () => {})
    await Promise.all([locks.runExclusive('b', () => {}), locks.runExclusive('b', () => {})])`,
  KeyedSemaphore: `const locks = new KeyedSemaphore(2, options)
    await locks.runExclusive('b', () => {})`,
  KeyedRWLock: `const locks = new KeyedRWLock(options)
    ;(await locks.acquireRead('b'))()
    await locks.runExclusive('b', () => {})`,
  Mutex: `const mutex = new Mutex(options)
    await Promise.all([mutex.runExclusive(() => {}), mutex.runExclusive(() => {})])`,
  Semaphore: `await new Semaphore(2, options).runExclusive(() => {})`,
  RWLock: `await new RWLock(options).runExclusive(() => {})`,
  RecursiveMutex: `const mutex = new RecursiveMutex(options)
    await mutex.runExclusive(() => mutex.runExclusive(() => {}))`,
}

async function checkWatched(name, traits) {
  const left = await shown(`
    const { queryObjects } = require('node:v8')
    const { RecursiveMutex, RWLock } = require(entry)
    const traits = ${JSON.stringify({ ...traits, diagnostics: true })}
    for (let i = 0; i < 10; i++) await use(traits, async (options) => { ${watchedUses[name]} })
    await collect()
    show(queryObjects(${name}, { format: 'count' }))`)
  assert.equal(left, 0)
}

describe('Of a name that nothing uses any more, a thread keeps no object', function () {
  this.timeout(60_000)

  for (const [name, code] of Object.entries(processUses)) {
    it(`of ${name}`, () => checkUse(500, '{}', code))
  }

  for (const name of Object.keys(watchedUses)) {
    it(`of ${name} with full diagnostics`, () => checkWatched(name, {}))
  }

  describe('at scope host', () => {
    let directory
    beforeEach(() => {
      directory = mkdtempSync(path.join(tmpdir(), 'names-'))
    })
    afterEach(() => removeDirectory(directory))

    for (const name of Object.keys(watchedUses)) {
      it(`of ${name} with full diagnostics`, () => checkWatched(name, { scope: 'host', directory }))
    }

    for (const [name, code] of Object.entries(hostUses)) {
      it(`of ${name}`, () =>
        checkUse(50, `{ scope: 'host', directory: ${JSON.stringify(directory)} }`, code))
    }

    it('but keeps a key that it holds without an object, and tells of its removed files', async () => {
      const outcome = await shown(`
        const { rmSync } = require('node:fs')
        const { once } = require('node:events')
        const options = { name: 'a', scope: 'host', directory: ${JSON.stringify(directory)} }
        const hold = () => { new KeyedMutex(options).tryLock('key'); new Mutex(options).tryLock() }
        hold()
        await collect()
        const isLocked = [new KeyedMutex(options).isLocked('key'), new Mutex(options).isLocked()]
        await collect()
        const codes = []
        const heard = new Promise((resolve) => process.on('warning', ({ code }) => {
          if (codes.push(code) === 2) resolve()
        }))
        rmSync(options.directory, { recursive: true })
        const alive = setInterval(() => {}, 1000)
        await heard
        clearInterval(alive)
        show({ isLocked, codes })`)
      assert.deepEqual(outcome, {
        isLocked: [true, true],
        codes: ['ERR_LOCK_SEGMENT', 'ERR_LOCK_SEGMENT'],
      })
      directory = mkdtempSync(path.join(tmpdir(), 'names-'))
    })

    it('but keeps a key that rests until the end of its minHold', async () => {
      const outcome = await shown(`
        const options = { name: 'a', scope: 'host', directory: ${JSON.stringify(directory)}, minHold: 1000 }
        const rest = () => { new KeyedMutex(options).tryAcquire('key')() }
        rest()
        await collect()
        const locks = new KeyedMutex(options)
        const isFree = locks.tryAcquire('key') !== undefined
        const release = await locks.acquire('key')
        release()
        show(isFree)`)
      assert.equal(outcome, false)
    })
  })

  it('but keeps a key that it holds without an object, until that is released', async () => {
    const outcome = await shown(`
      const hold = () => new KeyedMutex({ name: 'a' }).tryLock('key')
      hold()
      await collect()
      const find = () => {
        const locks = new KeyedMutex({ name: 'a' })
        const isLocked = locks.isLocked('key')
        locks.unlock('key')
        return [isLocked, locks.tryLock('key')]
      }
      show(find())`)
    assert.deepEqual(outcome, [true, true])
  })

  for (const scope of ['process', 'host']) {
    it(`but admits the waiters of a mutex that is held without an object, at scope ${scope}`, async () => {
      const directory = mkdtempSync(path.join(tmpdir(), 'names-'))
      const traits = scope === 'host' ? { scope, directory } : {}
      const outcome = await shown(`
        const options = { name: 'a', ...${JSON.stringify(traits)} }
        const done = []
        const wait = () => {
          new Mutex(options).tryLock()
          new Mutex(options).waitForUnlock().then(() => done.push('passed'))
          new Mutex(options).acquire().then((release) => { done.push('acquired'); release() })
          new Mutex(options).onIdle().then(() => done.push('idle'))
        }
        wait()
        await collect()
        const waiting = () => new Mutex(options).snapshot().waiting
        const before = waiting()
        new Mutex(options).unlock()
        const alive = setInterval(() => {}, 1000)
        while (done.length < 3) await turn()
        clearInterval(alive)
        await collect()
        show({ before, after: waiting(), done: done.sort() })`)
      assert.deepEqual(outcome, { before: 2, after: 0, done: ['acquired', 'idle', 'passed'] })
      removeDirectory(directory)
    })
  }

  it('but keeps a mutex that is held without an object as long as callers wait for it', async () => {
    const outcome = await shown(`
      const { queryObjects } = require('node:v8')
      const { LentMutex } = require(${JSON.stringify(require.resolve('../../lib/core/lent_mutex.js'))})
      new Mutex({ name: 'another' }).tryLock()
      await collect()
      const objects = () => queryObjects(LentMutex, { format: 'count' })
      const before = objects()
      const done = []
      const wait = () => {
        new Mutex({ name: 'a' }).tryLock()
        for (let i = 0; i < 2; i++) new Mutex({ name: 'a' }).lock().then(() => done.push(i))
      }
      wait()
      await collect()
      const alive = setInterval(() => {}, 1000)
      for (let i = 0; i < 2; i++) {
        new Mutex({ name: 'a' }).unlock()
        while (done.length <= i) await turn()
        await collect()
      }
      new Mutex({ name: 'a' }).unlock()
      clearInterval(alive)
      await collect()
      show({ done, left: objects() - before })`)
    assert.deepEqual(outcome, { done: [0, 1], left: 0 })
  })

  it('but admits a waiter without an object', async () => {
    const outcome = await shown(`
      const wait = () => {
        const locks = new KeyedMutex({ name: 'a' })
        const release = locks.tryAcquire('key')
        return [release, locks.acquire('key')]
      }
      const [release, next] = wait()
      await collect()
      release()
      const second = await next
      await collect()
      const isLocked = () => new KeyedMutex({ name: 'a' }).isLocked('key')
      const seen = [isLocked()]
      second()
      seen.push(isLocked())
      show(seen)`)
    assert.deepEqual(outcome, [true, false])
  })

  it('and no report: a snapshot does not look into its table', async () => {
    const seen = await shown(`
      const options = { diagnostics: 'counters' }
      await use(options, (all) => new KeyedMutex(all).tryAcquire('a')())
      // The lock is collected, and its map is closed, before the map is collected.
      gc()
      await new Promise(setImmediate)
      const locks = new KeyedMutex({ ...options, name: 'other' })
      locks.tryAcquire('b')
      const { locks: reports } = await snapshot()
      show(reports.map(({ name, key }) => [name, key]))`)
    assert.deepEqual(seen, [
      ['other', null],
      ['other', 'b'],
    ])
  })

  it('and no value: a lock of that name may be constructed otherwise', async () => {
    const outcome = await shown(`
      const first = () => {
        new KeyedSemaphore(2, { name: 'a' }).tryAcquire('key')[1]()
        new DiningPhilosophers(5, { name: 'a' }).tryBegin(0)()
      }
      first()
      await collect()
      const semaphore = new KeyedSemaphore(3, { name: 'a' })
      const table = new DiningPhilosophers(6, { name: 'a' })
      show([semaphore.getValue('key'), table.seats])`)
    assert.deepEqual(outcome, [3, 6])
  })
})
