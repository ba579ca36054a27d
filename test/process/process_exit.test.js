'use strict'
// process.exit(), in every state of a lock and its waiters: at once, with its own code, and without
// output.
const assert = require('node:assert/strict')
const { runCode, withoutLeaks } = require('../helpers/processes.js')

/** Generous: a process that hangs never ends. */
const atOnce = 5000

const holdIn = 'mutex.lockSync(); say(); setInterval(() => {}, 1000)'
const blockIn = 'say(); mutex.lockSync()'
const awaitIn = 'mutex.acquire(); say(); setInterval(() => {}, 1000)'
const hammerIn = 'say(); for (;;) { mutex.lockSync(); mutex.unlock() }'
const hammer =
  'const task = async () => { for (;;) { await mutex.lock(); mutex.unlock(); await turn() } }; ' +
  'for (let i = 0; i < 10; i++) task()'

// Run by the main thread before its process.exit(7).
const main = {
  'holds it': 'mutex.tryLock(); mutex.acquire()',
  'waits for a worker that holds it': `await start("${holdIn}"); mutex.acquire()`,
  'waits with a deadline': `await start("${holdIn}"); mutex.acquire({ timeout: 1e6 })`,
  'holds it, and a worker awaits it': `mutex.tryLock(); await start("${awaitIn}")`,
  'holds it, and unlocks at that moment, for a worker that awaits it': `
    mutex.tryLock(); await start("${awaitIn}"); mutex.unlock()`,
  'unlocks at that moment, for a worker that never reads it': `
    mutex.tryLock(); await start("mutex.acquire(); say(); for (;;);"); mutex.unlock()`,
  'unlocks at that moment, for a worker blocked in lockSync': `
    mutex.tryLock(); await start("${blockIn}"); await line(); mutex.unlock()`,
  'has started workers at that moment': `
    for (let i = 0; i < 4; i++) start("${holdIn}")`,
  'has seen workers come online': `
    const workers = Array.from({ length: 4 }, () => new Worker('', { eval: true }))
    await Promise.all(workers.map((worker) => once(worker, 'online')))
    await start("${awaitIn}")`,
  'has inherited it from a worker': `
    const worker = await start("${holdIn}")
    const waiting = mutex.acquire()
    worker.terminate()
    if (!(await waiting).abandoned) throw new Error('not abandoned')`,
  // lockSync must notice that its worker is being stopped.
  // (Here, when the mutex has just been handed to the main thread.)
  'locks and unlocks, as three workers do, blocking and not': `
    await start("${hammerIn}"); await start("${hammerIn}")
    await start("say(); const turn = () => new Promise(setImmediate); ${hammer}")
    ${hammer}
    for (let i = 0; i < 50; i++) { await mutex.lock(); mutex.unlock(); await turn() }`,
  'holds it, and a worker is blocked in lockSync': `
    mutex.tryLock(); await start("${blockIn}"); await line()`,
  'holds it, and four workers are blocked in lockSync with a deadline': `
    mutex.tryLock()
    for (let i = 0; i < 4; i++) await start("say(); mutex.lockSync({ timeout: 1e6 })")
    await line()`,
  'waits, as a worker blocked in lockSync does, for another worker': `
    await start("${holdIn}"); await start("${blockIn}"); await line(); mutex.acquire()`,
}

describe('process.exit() of the main thread that', function () {
  this.timeout(120_000)
  for (const [name, code] of Object.entries(main)) {
    it(name, async () => {
      const child = await runCode(`${code}\nshow('over'); process.exit(7)`, withoutLeaks)
      const { stderr, signal, shown } = child
      assert.deepEqual({ stderr, signal, shown }, { stderr: '', signal: null, shown: ['over'] })
      assert.equal(child.code, 7)
      assert.ok(child.late < atOnce, `${child.late} ms`)
    })
  }

  // lockSync must notice that its worker is being stopped.
  it('ends by itself, while a worker is blocked in lockSync', async () => {
    const child = await runCode(`
      mutex.tryLock()
      const worker = await start("${blockIn}")
      await line()
      worker.unref()
      show('over')`)
    const { code, stderr, shown } = child
    assert.deepEqual({ code, stderr, shown }, { code: 0, stderr: '', shown: ['over'] })
    assert.ok(child.late < atOnce, `${child.late} ms`)
  })
})

// Run by a worker before its process.exit(3), and the state in which the main thread may find the
// mutex.
const worker = {
  'holds it': ['mutex.lockSync(); say()', true],
  'holds it by a grant it has just read': ['mutex.acquire().then(quit); say(); return', true],
  'holds it, and waits for it': ['mutex.lockSync(); mutex.acquire(); say()', true],
  'has released it': ['mutex.lockSync(); mutex.unlock(); say()', false],
  'is in runExclusive': ['return mutex.runExclusive(() => { say(); quit() })', true],
}

describe('process.exit() of a worker that', function () {
  this.timeout(120_000)
  for (const [name, [code, abandoned]] of Object.entries(worker)) {
    it(`${name} does not affect the process and its mutex`, async () => {
      const child = await runCode(`
        const worker = await start("const quit = () => process.exit(3); ${code}; quit()")
        // By then it may have begun to wait again.
        const first = mutex.acquire()
        show((await worker.ended)[0])
        const release = await first
        show(release.abandoned)
        release()
        show((await mutex.acquire()).abandoned)`)
      const { code: status, stderr, shown } = child
      assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
      assert.deepEqual(shown, [3, abandoned, false])
    })
  }

  it('holds it, while the main thread is blocked in lockSync', async () => {
    const child = await runCode(`
      const blocking = new Mutex({ buffer: mutex.buffer, allowBlockingMainThread: true })
      // It exits once the main thread waits.
      const worker = await start("mutex.lockSync(); say(); while ((Atomics.load(word, 0) & 1) === 0); process.exit(3)")
      blocking.lockSync({ timeout: 50000 })
      show('locked')
      show((await worker.ended)[0])`)
    const { code, stderr, shown } = child
    assert.deepEqual({ code, stderr, shown }, { code: 0, stderr: '', shown: ['locked', 3] })
  })
})
