'use strict'
// Terminates thousands of workers in each of their states. The run itself is
// test/helpers/death_run.js, in a process of its own, because its exit counts, too.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const path = require('node:path')
const { Mutex } = require('../..')
const { run } = require('../helpers/processes.js')
const { scaled } = require('../helpers/scale.js')
const { kinds } = require('../helpers/shared_locks.js')
const { exitOf, startWorker } = require('../helpers/workers.js')

const mebibyte = 2 ** 20
const states = {
  holds: 'holds it, and another one that many want',
  blindlyHolds: 'holds it by lockSync, and never turns to its event loop',
  waits: 'waits with many promises',
  isAdmitted: 'is being let in',
  blocks: 'locks and unlocks, blocking',
  isBlocked: 'is blocked in lockSync, when it is let in',
  startsAtOnce: 'has been started this moment',
  isOnline: 'has just come online',
  loads: 'loads the addon',
}
const isBlockedForGood = 'is blocked in lockSync for good'

async function deaths(kind, count, ...roles) {
  const timeout = roles.length === 1 ? 120_000 : 560_000
  const file = path.join(__dirname, '..', 'helpers', 'death_run.js')
  const child = await run(['--expose-gc', file, kind, String(count), ...roles], { timeout })
  const { code, signal, stderr, shown } = child
  assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  const [seen] = shown
  assert.ok(seen.died >= count)
  assert.deepEqual([seen.missed, seen.broken, seen.word], [0, 0, 0])
  // Two deaths in a row may be reported as one.
  assert.ok(seen.told <= seen.dyingInCrowd)
  assert.deepEqual(seen.after, seen.before)
  return seen
}

describe('a worker that is terminated while it', function () {
  this.timeout(600_000)
  // Semaphores: shared_death.test.js and shared_semaphore.test.js.
  const exclusive = Object.keys(kinds).filter((kind) => kinds[kind].permits === 1)
  for (const [role, name] of Object.entries({ ...states, isBlockedForGood })) {
    it(name, async () => {
      const seen = await deaths('mutex', scaled(10, 5), role)
      if (role === 'holds') assert.ok(seen.told > 0)
    })
  }

  for (const kind of exclusive) {
    const most = scaled(kind === 'mutex' ? 1000 : 100, 20)
    it(`is in any of these states, ${most} times (${kind})`, async () => {
      const seen = await deaths(kind, most, ...Object.keys(states))
      assert.ok(seen.told > 0)
      // Node's own memory settles in the first half.
      const { measures } = seen
      const growth = (what) => measures.at(-1)[what] - measures[1][what]
      assert.ok(growth('bytes') < 2 * mebibyte, JSON.stringify(measures))
      // A sanitizer keeps memory of its own.
      if (most >= 2000) {
        assert.ok(growth('rss') < 25 * mebibyte, JSON.stringify(measures))
      }
    })
  }
})

describe('the report of a death', () => {
  it('is passed on by a waiter that dies before it is admitted', async () => {
    const mutex = new Mutex({ shared: true })
    // Two copies of the package in one worker: the one loaded last ends first.
    const worker = startWorker(
      `const heir = new Mutex({ buffer: workerData })
       for (const file of Object.keys(require.cache)) {
         if (!file.endsWith('.node')) delete require.cache[file]
       }
       const holder = new (require(${JSON.stringify(require.resolve('../..'))}).Mutex)({ buffer: workerData })
       holder.lockSync()
       heir.acquire()
       // From here on no thread can overtake the next waiter.
       setTimeout(() => parentPort.postMessage('ready'), 20)
       setInterval(() => {}, 1000)`,
      mutex.buffer,
    )
    await once(worker, 'message')
    const waiting = mutex.acquire()
    await worker.terminate()
    assert.equal((await waiting).abandoned, true)
  })
})

describe('waitForUnlock of a mutex that a worker has released', () => {
  it('is not affected by a cancel() that comes before its wake-up', async () => {
    const mutex = new Mutex({ shared: true })
    const steps = new Int32Array(new SharedArrayBuffer(8))
    const worker = startWorker(
      `const { buffer, steps } = workerData
       const mutex = new Mutex({ buffer })
       mutex.lockSync()
       parentPort.postMessage('held')
       Atomics.wait(steps, 0, 0)
       mutex.unlock()
       Atomics.store(steps, 1, 1)
       Atomics.notify(steps, 1)`,
      { buffer: mutex.buffer, steps },
    )
    await once(worker, 'message')
    const told = mutex.waitForUnlock({ timeout: 20_000 })
    const cancelled = assert.rejects(mutex.acquire(), { code: 'ERR_LOCK_CANCELED' })
    Atomics.store(steps, 0, 1)
    Atomics.notify(steps, 0)
    Atomics.wait(steps, 1, 0)
    mutex.cancel()
    await Promise.all([told, cancelled, exitOf(worker)])
    assert.equal(mutex.isLocked(), false)
  })
})
