'use strict'
// Warnings of locks with diagnostics: holds that last too long, and holds that can never be released.
const assert = require('node:assert/strict')
const { KeyedMutex, Mutex, RWLock, Semaphore } = require('../..')
const { sleep } = require('../helpers/agents.js')
const { runCode } = require('../helpers/processes.js')
const { nextWarning, useWarnings, warningsOf } = require('../helpers/warnings.js')

const longHold = 'BOXOFFICE_LONG_HOLD'

const kinds = {
  mutex: { make: (options) => new Mutex(options), hold: (lock) => lock.acquire() },
  'mutex by lock()': {
    make: (options) => new Mutex(options),
    hold: (lock) => lock.lock().then(() => () => lock.unlock()),
  },
  semaphore: {
    make: (options) => new Semaphore(1, options),
    hold: async (lock) => (await lock.acquire())[1],
  },
  'read-write lock': { make: (options) => new RWLock(options), hold: (lock) => lock.acquireRead() },
  'keyed mutex': { make: (options) => new KeyedMutex(options), hold: (lock) => lock.acquire('k') },
}

describe('Warnings of long holds', () => {
  useWarnings(longHold)

  for (const [title, { make, hold }] of Object.entries(kinds)) {
    it(`come once for each hold of a ${title} that lasts too long`, async () => {
      const lock = make({ warnAfter: 20 })
      const release = await hold(lock)
      const warning = await nextWarning(longHold)
      assert.equal(warning.name, 'BoxofficeWarning')
      assert.match(warning.message, /has been held for \d+ ms by the main thread/)
      if (title === 'keyed mutex') assert.match(warning.message, /key "k"|key 'k'/)
      assert.equal(warning.detail, undefined)
      assert.deepEqual(await warningsOf(longHold, () => sleep(60)), [])
      release()
      const another = await hold(lock)
      await nextWarning(longHold)
      another()
    })
  }

  it('name the lock, and the place of the acquire with full diagnostics', async () => {
    const mutex = new Mutex({ name: 'long hold', warnAfter: 5, diagnostics: true })
    await mutex.lock()
    const warning = await nextWarning(longHold)
    assert.match(warning.message, /the mutex .long hold./)
    assert.match(warning.detail, /warnings\.test\.js/)
    mutex.unlock()
  })

  it('are emitted for each lock after its own time', async () => {
    const slow = new Mutex({ warnAfter: 10_000 })
    const quick = new Mutex({ name: 'quick', warnAfter: 10 })
    await slow.lock()
    await quick.lock()
    const warning = await nextWarning(longHold)
    assert.match(warning.message, /quick/)
    slow.unlock()
    quick.unlock()
  })

  it('are not emitted for holds that ended in time, or have no limit', async () => {
    const mutex = new Mutex({ warnAfter: 10_000 })
    const endless = new Mutex({ warnAfter: Number.POSITIVE_INFINITY })
    assert.ok(endless.tryLock())
    const warnings = await warningsOf(longHold, async () => {
      for (let i = 0; i < 20; i++) {
        await mutex.lock()
        await sleep(1)
        mutex.unlock()
      }
    })
    assert.deepEqual(warnings, [])
  })

  it('do not count what a turn did before the hold', async () => {
    const mutex = new Mutex({ diagnostics: 'counters', warnAfter: 2000 })
    let held
    let warnings
    // On a busy machine, the hold itself may last too long.
    do {
      warnings = await warningsOf(longHold, async () => {
        mutex.tryLock()
        mutex.unlock()
        const start = performance.now()
        while (performance.now() - start < 2050);
        const begun = performance.now()
        await mutex.lock()
        await sleep(1)
        mutex.unlock()
        held = performance.now() - begun
      })
    } while (held >= 2000)
    assert.deepEqual(warnings, [])
  })
})

describe('A process whose locks have diagnostics', () => {
  for (const diagnostics of ['true', '{ order: true }']) {
    it(`ends, though a listener of beforeExit takes a lock: ${diagnostics}`, async () => {
      const { shown } = await runCode(`
        const watched = new Mutex({ diagnostics: ${diagnostics} })
        let times = 0
        process.on('beforeExit', () => {
          if (++times === 5) process.exit()
          watched.tryAcquire()()
          show(times)
        })`)
      assert.deepEqual(shown, [1])
    })
  }
})

describe('Warnings of releasers that are collected', () => {
  const collect = 'for (let i = 0; i < 10; i++) { await turn(); globalThis.gc() }'
  const withGc = { NODE_OPTIONS: '--expose-gc' }
  const listen = `process.on('warning', ({ name, code, message, detail }) => show({ name, code, message, detail }))
    const { KeyedMutex, Semaphore } = require(${JSON.stringify(require.resolve('../..'))})`

  for (const [title, code, how = ''] of [
    ['mutex', `await new Mutex({ name: 'lost', diagnostics: true }).acquire()`],
    ['semaphore', `await new Semaphore(2, { name: 'lost', diagnostics: true }).acquire()`],
    [
      'mutex',
      `const waited = new Mutex({ name: 'lost', diagnostics: true })
      const release = await waited.acquire()
      setImmediate(release)
      await waited.acquire()`,
      ', which was waited for',
    ],
    ['read-write lock', `await new RWLock({ name: 'lost', diagnostics: true }).acquireRead()`],
    ['mutex of key', `await new KeyedMutex({ name: 'lost', diagnostics: true }).acquire('k')`],
  ]) {
    it(`name the place where those of a ${title} were made${how}`, async () => {
      const { shown } = await runCode(
        `${listen}
        await (async function culprit() { ${code} })()
        ${collect}`,
        withGc,
      )
      assert.equal(shown.length, 1)
      const [{ name, code: id, message, detail }] = shown
      assert.equal(name, 'BoxofficeWarning')
      assert.equal(id, 'BOXOFFICE_LEAKED_RELEASER')
      assert.match(message, new RegExp(`a releaser of the ${title}.*lost`))
      assert.match(detail, /culprit/)
    })
  }

  for (const [how, method] of [
    ['at once', 'open() { this.release = mutex.tryAcquire() }'],
    ['after a wait', 'async open() { this.release = await mutex.acquire() }'],
  ]) {
    it(`come where only the object that called for it has it, ${how}`, async () => {
      const { shown } = await runCode(
        `${listen}
        const mutex = new Mutex({ name: 'lost', diagnostics: true })
        class Session { ${method} }
        await (async () => { await new Session().open() })()
        // Its frames have been read when this hold, which began later, has lasted longer.
        const timer = setInterval(() => {}, 10_000)
        const long = new Mutex({ name: 'long', warnAfter: 1500 })
        await long.lock()
        await once(process, 'warning')
        clearInterval(timer)
        ${collect}`,
        withGc,
      )
      assert.deepEqual(
        shown.map(({ code }) => code),
        ['BOXOFFICE_LONG_HOLD', 'BOXOFFICE_LEAKED_RELEASER'],
      )
      assert.match(shown[1].detail, /Session\.open/)
    })
  }

  it('mark the holder in snapshots, until the lock is released', async () => {
    const { shown } = await runCode(
      `const { snapshot } = require(${JSON.stringify(require.resolve('../..'))})
      const kept = new Mutex({ name: 'lost', diagnostics: true })
      const look = async () => {
        const { locks } = await snapshot()
        const { holders } = locks.find(({ name }) => name === 'lost')
        show(holders.map(({ isLeaked }) => isLeaked ?? false))
      }
      await (async () => { await kept.acquire() })()
      await look()
      ${collect}
      await look()
      kept.release()
      const release = await kept.acquire()
      await look()
      release()`,
      withGc,
    )
    assert.deepEqual(shown, [[false], [true], [false]])
  })

  it('are not emitted after any code has called it, or with counters only', async () => {
    const { shown } = await runCode(
      `${listen}
      const watched = new Mutex({ diagnostics: true })
      for (let i = 0; i < 100; i++) (await watched.acquire())()
      await watched.acquire()
      watched.release()
      await watched.runExclusive(() => {})
      await new Mutex({ diagnostics: 'counters' }).acquire()
      const lock = new RWLock({ diagnostics: true })
      ;(await (await lock.acquireRead()).upgrade()).downgrade()()
      ${collect}`,
      withGc,
    )
    assert.deepEqual(shown, [])
  })
})
