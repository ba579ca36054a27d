'use strict'
// Workers terminated at any moment of using read-write locks; as in terminations.test.js.
const assert = require('node:assert/strict')
const { inChild } = require('../helpers/children.js')
const { scaled } = require('../helpers/scale.js')

/** Random operations on one lock, until the worker is terminated. */
function work(b, say) {
  const lock = new b.RWLock({ name: 'n' })
  const locks = new b.KeyedRWLock({ name: 'n' })
  const below = (n) => Math.floor(Math.random() * n)
  const turn = () => new Promise(setImmediate)
  const expected = /^ERR_LOCK_(TIMEOUT|DEADLOCK|CANCELED|UPGRADE)$/
  const quiet = async (act) => {
    try {
      await act()
    } catch (error) {
      if (!expected.test(error.code)) say(`unexpected: ${error.stack}`)
    }
  }
  const changed = async (reader) => {
    let release = reader
    await quiet(async () => {
      release = await reader.upgrade({ timeout: below(20) })
      if (below(2)) release = release.downgrade()
      if (below(2)) await turn()
    })
    release()
  }
  const acts = [
    async () => {
      const reader = await lock.acquireRead({ timeout: 5 + below(50), priority: below(2) })
      if (below(2)) await turn()
      if (below(3) === 0) await changed(reader)
      reader()
    },
    () => lock.runExclusive(turn, { timeout: 5 + below(50) }),
    () => lock.runShared(turn),
    () => lock.acquireReadSync({ timeout: 3 })(),
    () => lock.acquireWriteSync({ timeout: 3 }).downgrade()(),
    async () => {
      const reader = lock.acquireReadSync({ timeout: 3 })
      let release = reader
      await quiet(() => {
        release = reader.upgradeSync({ timeout: 3 })
      })
      release()
    },
    () => lock.tryAcquireRead()?.(),
    () => lock.tryAcquireWrite()?.(),
    () => below(20) === 0 && lock.cancel(),
    () => locks.runShared([below(5), `a${below(400)}`], turn, { timeout: 50 }),
    () => locks.runExclusive([below(5), `a${below(400)}`], turn, { timeout: 50 }),
    async () => changed(await locks.acquireRead(below(5), { timeout: 20 })),
    () => locks.acquireWriteSync([below(5), `a${below(400)}`], { timeout: 5 })(),
    () => locks.snapshot(),
  ]
  const task = async () => {
    for (;;) {
      await quiet(acts[below(acts.length)])
      if (below(5) === 0) await turn()
    }
  }
  for (let t = 0; t < 12; t++) task()
}

/** Returns the faults that remain after all workers have ended. */
function left(b) {
  const lock = new b.RWLock({ name: 'n' })
  const locks = new b.KeyedRWLock({ name: 'n' })
  const amiss = []
  if (lock.readers > 0) amiss.push(`${lock.readers} read`)
  const take = (what, release) => {
    if (release === undefined) amiss.push(`${what} is held`)
    else release()
  }
  take('the lock', lock.tryAcquireWrite())
  for (const key of locks.keys()) take(`key ${key}`, locks.tryAcquireWrite(key))
  return [...amiss, ...locks.keys()]
}

describe('workers terminated at any moment', function () {
  this.timeout(120_000)

  it('of all operations on read-write locks leave nothing behind', async () => {
    const code = `
      const { once } = require('node:events')
      const text = ${JSON.stringify(work.toString())}
      const body = \`const { parentPort, workerData } = require('node:worker_threads')
        parentPort.postMessage('up')
        const work = eval('(' + workerData + ')')
        work(require(\${JSON.stringify(entry)}), (what) => parentPort.postMessage(what))\`
      let begun = 0
      const slot = async () => {
        while (begun++ < ${scaled(200, 20)}) {
          const worker = new Worker(body, { eval: true, workerData: text })
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
      await Promise.all([slot(), slot(), slot()])
      show((${left})(require(entry)))
      process.exit()`
    assert.deepEqual(await inChild(code), [[]])
  })
})
