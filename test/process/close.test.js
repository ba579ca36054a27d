'use strict'
// close() and onIdle() of locks that threads share: each thread closes its own objects. close_objects.test.js has those of
// one thread.
const assert = require('node:assert/strict')
const { Mutex, RWLock, Semaphore } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { isPending } = require('../helpers/closable.js')
const { runCode } = require('../helpers/processes.js')

const startCode = (code) => `const worker = await start("${code}"); worker.unref()`
/** A worker that holds it until the main thread waits for it, and is idle. */
const held = `${startCode('mutex.lockSync(); say(); untilLetGo(); mutex.unlock()')}; keptAlive().then(letGo)`

/** The output of a process before it exits, with that of stderr; nothing else keeps it alive. */
const exits = {
  'that it holds itself does not keep a process alive': [
    'mutex.tryLock(); mutex.close()',
    /^boxoffice: the event loop has run empty, and 1 wait is pending .*\n {2}close\(\) or onIdle\(\) of the mutex\n/,
  ],
  'that a worker holds does not, where no caller waits': [
    `${startCode('mutex.lockSync(); say(); setInterval(() => {}, 1000)')}
     mutex.close().then(() => show('closed'))`,
    /^$/,
    'closed',
  ],
  'that a worker holds does, where a caller waits': [
    `${held}; mutex.acquire().then((release) => { show('granted'); release() })
     mutex.close().then(() => show('closed'))`,
    /^$/,
    'granted',
    'closed',
  ],
}

describe('Locks that close, between threads', function () {
  this.timeout(60_000)
  const start = useAgents()

  it('stay open in other threads, and are idle for each thread separately', async () => {
    const name = freshName()
    const worker = start()
    await worker.does(`
      my.mutex = new boxoffice.Mutex({ name: '${name}' })
      my.semaphore = new boxoffice.Semaphore(2, { name: '${name}' })
      my.lock = new boxoffice.RWLock({ name: '${name}' })
      my.releases = [
        await my.mutex.acquire(),
        (await my.semaphore.acquire())[1],
        await my.lock.acquireRead(),
      ]`)
    const mutex = new Mutex({ name })
    const semaphore = new Semaphore(2, { name })
    const lock = new RWLock({ name })
    await Promise.all([mutex, semaphore, lock].map((one) => one.onIdle()))
    const waiting = [mutex.acquire(), semaphore.acquire(2), lock.acquireWrite()]
    const closing = [mutex, semaphore, lock].map((one) => one.close())
    for (const one of closing) assert.ok(await isPending(one))
    await worker.does('for (const release of my.releases) release()')
    const [release, [, releaseUnits], releaseWrite] = await Promise.all(waiting)
    for (const one of closing) assert.ok(await isPending(one))
    for (const one of [release, releaseUnits, releaseWrite]) one()
    await Promise.all(closing)
    const again = await worker.does(`
      return [my.mutex.tryLock(), my.semaphore.tryAcquire(2)[0], my.lock.tryAcquireWrite().abandoned]`)
    assert.deepEqual(again, [true, 2, false])
  })

  for (const fairness of ['bounded', 'fifo']) {
    it(`are idle after a caller that may not wait, with fairness '${fairness}'`, async () => {
      const name = freshName()
      const worker = start()
      await worker.does(`
        my.mutex = new boxoffice.Mutex({ name: '${name}', fairness: '${fairness}' })
        my.release = await my.mutex.acquire()`)
      const mutex = new Mutex({ name, fairness, maxPending: 0 })
      await assert.rejects(mutex.acquire(), { code: 'ERR_LOCK_QUEUE_FULL' })
      assert.equal(await isPending(mutex.onIdle()), false)
      await worker.does('my.release()')
      const release = await mutex.acquire()
      release()
    })
  }

  for (const [name, [code, stderr, ...expected]] of Object.entries(exits)) {
    it(`a lock ${name}`, async () => {
      const child = await runCode(code)
      assert.deepEqual(child.shown, expected)
      assert.match(child.stderr, stderr)
      assert.deepEqual([child.code, child.signal], [0, null])
    })
  }
})
