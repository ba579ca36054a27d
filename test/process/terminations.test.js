'use strict'
// Workers terminated at any moment of any operation, in a process of their own, because a failure
// ends the process.
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')
const { scaled } = require('../helpers/scale.js')

/** Random operations of the workers, until they are terminated. */
function work(b, say) {
  const name = 'n'
  const m = new b.Mutex({ name })
  const c = new b.ConditionVariable({ name })
  const s = new b.Semaphore(3, { name })
  const k = new b.KeyedMutex({ name })
  const ks = new b.KeyedSemaphore(2, { name })
  const e = new b.AutoResetEvent({ name })
  const r = new b.ManualResetEvent({ name })
  const barrier = new b.Barrier(2, { name })
  const table = new b.DiningPhilosophers(5, { name })
  const below = (n) => Math.floor(Math.random() * n)
  const turn = () => new Promise(setImmediate)
  const expected = /^ERR_LOCK_(TIMEOUT|DEADLOCK|CANCELED|BROKEN|RANGE)$/
  const quiet = (promise) =>
    promise.catch((error) => {
      if (!expected.test(error.code)) say(`unexpected: ${error.stack}`)
    })
  const acts = [
    async () => {
      const release = await m.acquire({ timeout: 5 + below(50) })
      if (below(2)) await turn()
      if (below(3) === 0) await quiet(c.wait(m, { timeout: below(10) }))
      else if (below(2)) c.notifyOne()
      else c.notifyAll()
      release()
    },
    async () => {
      m.lockSync({ timeout: 5 })
      try {
        if (below(2)) c.waitSync(m, { timeout: below(5) })
      } finally {
        c.notifyOne()
        m.unlock()
      }
    },
    async () => {
      const [, release] = await s.acquire(1 + below(3), { timeout: 50, priority: below(3) })
      if (below(2)) await turn()
      release()
    },
    async () => s.acquireSync(1 + below(2), { timeout: 5 })[1](),
    () => k.runExclusive([below(5), `a${below(400)}`], turn, { timeout: 50 }),
    async () => k.acquireSync([below(5), `a${below(400)}`], { timeout: 5 })(),
    () => ks.runExclusive(below(600), turn, 1 + below(2), { timeout: 50 }),
    async () => {
      e.signal()
      await e.wait({ timeout: 20 })
    },
    async () => e.waitSync({ timeout: 3 }),
    async () => {
      below(2) ? r.set() : r.reset()
      await r.wait({ timeout: 10 })
    },
    async () => {
      await barrier.wait({ timeout: below(20) })
      if (barrier.isBroken()) barrier.reset()
    },
    async () => {
      if (below(2)) barrier.reset()
      barrier.waitSync({ timeout: 3 })
    },
    () => table.runExclusive(below(5), turn, { timeout: 50 }),
    async () => table.beginSync(below(5), { timeout: 5 })(),
    async () => {
      const latch = new b.CountdownLatch(3, { name: `l${below(50)}` })
      latch.countDown(1 + below(2))
      await latch.wait({ timeout: 20 })
    },
    async () => {
      if (below(20) === 0) m.cancel()
      if (below(20) === 0) k.cancelAll()
      if (below(20) === 0) s.cancel()
      if (below(3) === 0) k.snapshot()
      if (below(3) === 0) ks.snapshot()
    },
    async () => {
      const mutex = new b.Mutex({ name: `x${below(50)}` })
      if (mutex.tryLock() && below(10)) mutex.unlock()
    },
  ]
  const task = async () => {
    for (;;) {
      await quiet((async () => acts[below(acts.length)]())())
      if (below(5) === 0) await turn()
    }
  }
  for (let t = 0; t < 12; t++) task()
}

/** Returns the faults that remain after all workers have ended. */
function left(b) {
  const name = 'n'
  const k = new b.KeyedMutex({ name })
  const ks = new b.KeyedSemaphore(2, { name })
  const amiss = []
  const take = (what, releaser) => {
    if (releaser === undefined) amiss.push(`${what} is held`)
    else releaser()
  }
  take('the mutex', new b.Mutex({ name }).tryAcquire())
  take('the semaphore', new b.Semaphore(3, { name }).tryAcquire(3)?.[1])
  for (const key of k.keys()) take(`key ${key}`, k.tryAcquire(key))
  for (const key of ks.keys()) take(`key ${key} of the semaphore`, ks.tryAcquire(key, 2)?.[1])
  const table = new b.DiningPhilosophers(5, { name })
  for (let i = 0; i < 5; i++) take(`seat ${i}`, table.tryBegin(i))
  const { waiting } = new b.Barrier(2, { name })
  if (waiting > 0) amiss.push(`${waiting} wait at the barrier`)
  for (let i = 0; i < 50; i++) take(`x${i}`, new b.Mutex({ name: `x${i}` }).tryAcquire())
  amiss.push(...k.keys(), ...ks.keys())
  return amiss
}

/** Starts `count` workers that run `work`, three at a time, and terminates them. */
const play = (work, count) => `
  const { once } = require('node:events')
  const body = \`
    const { parentPort } = require('node:worker_threads')
    const work = ${work.toString().replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('$', '\\$')}
    parentPort.postMessage('up')
    work(require(\${JSON.stringify(entry)}), (what) => parentPort.postMessage(what))\`
  let begun = 0
  const slot = async () => {
    while (begun++ < ${count}) {
      const worker = new Worker(body, { eval: true })
      worker.on('message', (what) => what === 'up' || show(what))
      worker.on('error', (error) => show(String(error.stack)))
      const ended = once(worker, 'exit')
      // One in five while it starts.
      if (begun % 5 > 0) await once(worker, 'message')
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40))
      worker.terminate()
      await ended
    }
  }
  await Promise.all([slot(), slot(), slot()])`

describe('terminations', function () {
  this.timeout(120_000)

  it('at any moment of any operation leave nothing behind', async () => {
    const code = `${play(work, scaled(150, 30))}; show((${left})(require(entry))); process.exit()`
    assert.deepEqual(await inChild(code), [[]])
  })

  it('of workers that use keys, names and invalid arguments do not end the process', async () => {
    const ask = (b) => {
      for (let i = 0; ; i++) {
        const locks = new b.KeyedMutex({ name: 'k' })
        locks.tryLock(i)
        locks.keys()
        for (const fails of [() => new b.Semaphore(i, { name: 's' }), () => locks.unlock('a')]) {
          try {
            fails()
          } catch {}
        }
      }
    }
    assert.deepEqual(
      await inChild(`${play(ask, scaled(100, 20))}; show('alive'); process.exit()`),
      ['alive'],
    )
  })
})
