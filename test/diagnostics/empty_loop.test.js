'use strict'
// Locks with diagnostics in listeners of 'beforeExit': none of them keeps a process from its end.
const assert = require('node:assert/strict')
const { entry, run, withoutLeaks } = require('../helpers/processes.js')

const levels = ['false', "'counters'", 'true', '{ order: true }']

/** The end of a process that runs `code`, which shows how often the event loop has run empty. */
const endOf = (code) =>
  run(
    [
      '-e',
      `const { Mutex } = require(${JSON.stringify(entry)})
      const show = (value) => console.log(JSON.stringify(value))
      let emptied = 0
      process.on('beforeExit', () => {
        emptied++
        if (emptied === 1000) process.exit(1)
      })
      process.on('exit', () => show(emptied))
      ${code}`,
    ],
    { env: { BOXOFFICE_DIAGNOSTICS: '', ...withoutLeaks } },
  )

/** Runs `listen` whenever the event loop runs empty. The process must end. */
async function endsAfter(listen, diagnostics, prepare = '') {
  const { code, shown, stderr } = await endOf(`
    const mutex = new Mutex({ name: 'log', diagnostics: ${diagnostics} })
    ${prepare}
    process.on('beforeExit', () => { ${listen} })`)
  assert.equal(code, 0, `the event loop has run empty ${shown.at(-1)} times`)
  return { emptied: shown.at(-1), stderr }
}

describe("A listener of 'beforeExit'", () => {
  for (const diagnostics of levels) {
    it(`takes a free lock, and the process ends, with diagnostics: ${diagnostics}`, async () => {
      const { emptied } = await endsAfter('mutex.tryAcquire()()', diagnostics)
      assert.equal(emptied, 1)
    })

    it(`waits for a held lock, and the process ends, with diagnostics: ${diagnostics}`, async () => {
      const wait = 'mutex.acquire().catch(() => {})'
      const { emptied, stderr } = await endsAfter(wait, diagnostics, 'mutex.tryAcquire()')
      assert.ok(emptied <= 2, emptied)
      assert.match(stderr, /^boxoffice: the event loop has run empty, and (?:1 wait|2 waits)/m)
    })
  }

  it('that was there before the lock waits for it, and the process ends', async () => {
    const { code, shown } = await endOf(`
      let mutex
      process.on('beforeExit', () => {
        mutex ??= new Mutex({ diagnostics: true })
        mutex.acquire().catch(() => {})
      })`)
    assert.equal(code, 0)
    assert.ok(shown.at(-1) <= 3, shown.at(-1))
  })

  it('may wait after a promise, and the process ends', async () => {
    const wait = '(async () => { for (let i = 0; i < 9; i++) await null; await mutex.acquire() })()'
    const { emptied } = await endsAfter(wait, 'true', 'mutex.tryAcquire()')
    assert.ok(emptied <= 2, emptied)
  })

  it('gets the error of a deadlock with nothing else in the event loop', async () => {
    const { code, shown } = await endOf(`
      const mutex = new Mutex({ diagnostics: true })
      process.once('beforeExit', async () => {
        await mutex.runExclusive(() => mutex.acquire()).catch(({ code }) => show(code))
      })`)
    assert.deepEqual([code, shown], [0, ['ERR_LOCK_DEADLOCK', 2]])
  })

  it('may give the event loop more to do, in which each deadlock is found', async () => {
    const { code, shown } = await endOf(`
      const mutex = new Mutex({ diagnostics: true })
      const lockTwice = () =>
        mutex.runExclusive(() => mutex.acquire()).catch(({ code }) => show(code))
      let left = 3
      process.on('beforeExit', () => {
        if (left-- > 0) setTimeout(lockTwice, 1)
      })`)
    const found = Array(3).fill('ERR_LOCK_DEADLOCK')
    assert.deepEqual([code, shown], [0, [...found, 4]])
  })
})

describe("The clock of 'counters'", () => {
  it('goes on while the event loop is idle', async () => {
    const { shown } = await endOf(`
      const mutex = new Mutex({ diagnostics: 'counters' })
      const sleepy = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60);'
      const answer = 'require("node:worker_threads").parentPort.postMessage(1)'
      const worker = new (require('node:worker_threads').Worker)(sleepy + answer, { eval: true })
      worker.once('online', () => setImmediate(() => mutex.tryAcquire()()))
      // A message comes before the Immediates of its turn.
      worker.once('message', () => {
        mutex.tryAcquire()
        show(mutex.snapshot().holders[0].heldFor < 30)
      })`)
    assert.equal(shown[0], true)
  })
})
