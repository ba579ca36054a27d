'use strict'
// The state machine of lib/process/keep_alive.js, where a thread joins or leaves while the main thread runs no event
// loop: the news waits with other news, or behind an event loop that has run empty.
const assert = require('node:assert/strict')
const { entry, run } = require('../helpers/processes.js')

const kinds = {
  Semaphore: { make: "new Semaphore(0, { name: 'lock' })", wait: 'acquire', grant: 'release' },
  ManualResetEvent: { make: "new ManualResetEvent({ name: 'lock' })", wait: 'wait', grant: 'set' },
  AutoResetEvent: { make: "new AutoResetEvent({ name: 'lock' })", wait: 'wait', grant: 'signal' },
  Barrier: { make: "new Barrier(2, { name: 'lock' })", wait: 'wait', grant: 'wait' },
  CountdownLatch: {
    make: "new CountdownLatch(1, { name: 'lock' })",
    wait: 'wait',
    grant: 'countDown',
  },
}

/**
 * A process whose main thread runs `main`, and whose worker runs `worker` once it has the same lock. `reach(n)` says that
 * a thread has come to step n, and `until(n)` blocks the thread until the other one has.
 */
function inProcess(make, main, worker) {
  const both = `
    const { writeSync } = require('node:fs')
    const { Worker, workerData } = require('node:worker_threads')
    const { AutoResetEvent, Barrier, CountdownLatch, ManualResetEvent, Semaphore } = require(${JSON.stringify(entry)})
    const show = (text) => writeSync(1, JSON.stringify(text) + '\\n')
    const steps = workerData ?? new Int32Array(new SharedArrayBuffer(16))
    const reach = (n) => { Atomics.store(steps, n, 1); Atomics.notify(steps, n) }
    const until = (n) => Atomics.wait(steps, n, 0)
    const lock = ${make};`
  const start = `new Worker(${JSON.stringify(both + worker)}, { eval: true, workerData: steps }).unref()`
  return run(['-e', `'use strict'; ${both}; const start = () => ${start}; ${main}`], {
    timeout: 20_000,
  })
}

describe('a wait of the main thread', function () {
  this.timeout(60_000)

  for (const [name, { make, wait, grant }] of Object.entries(kinds)) {
    it(`for a ${name} is kept alive by a thread that joins before the event loop runs empty`, async () => {
      const main = `
        lock.${wait}().then(() => show('granted'))
        process.once('exit', () => show('exit'))
        // In the last phase of a turn: no wake-up is read after it.
        setImmediate(() => { start(); until(0) })`
      // The main thread has no other reason to go on.
      const worker = `reach(0); setTimeout(() => lock.${grant}(), 50)`
      const { shown, stderr, code } = await inProcess(make, main, worker)
      assert.deepEqual([shown, stderr, code], [['granted', 'exit'], '', 0])
    })
  }

  it('ends with its process if the only other thread left in one wake-up with a grant', async () => {
    const main = `
      start(); until(0)
      lock.acquire().then(() => show('granted'))
      lock.acquire().then(() => show('never'))
      process.once('exit', () => show('exit'))
      // The grant and the end of the worker come in one wake-up, because this thread reads none meanwhile.
      reach(1); until(2); Atomics.wait(steps, 3, 0, 300)`
    const worker = `reach(0); until(1); lock.release(); process.once('exit', () => reach(2))`
    const { shown, stderr, code } = await inProcess(kinds.Semaphore.make, main, worker)
    assert.deepEqual([shown, stderr, code], [['granted', 'exit'], '', 0])
  })
})
