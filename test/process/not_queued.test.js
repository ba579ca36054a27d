'use strict'
// Callers that may not wait: with ifAvailable, a timeout of 0, or where maxPending callers wait. A queue that they entered
// for a moment would make a free lock look taken to others.
const assert = require('node:assert/strict')
const native = require('../../lib/addon/load.js')
const { AutoResetEvent, LockManager, RWLock, Semaphore } = require('../..')
const { freshName, useAgents } = require('../helpers/agents.js')
const { scopes } = require('../helpers/scopes.js')

const late = { code: 'ERR_LOCK_TIMEOUT' }
const full = { code: 'ERR_LOCK_QUEUE_FULL' }
const topics = ['semaphore', 'rwLock', 'autoResetEvent', 'hostSemaphore', 'hostRWLock', 'hostEvent']

/** Runs `act` while no caller can enter a queue. */
async function withoutQueues(act) {
  const originals = topics.map((topic) => [topic, { ...native[topic] }])
  for (const topic of topics) {
    for (const name of ['enter', 'upgrade'].filter((one) => one in native[topic])) {
      native[topic][name] = () => assert.fail(`${topic}.${name} was called`)
    }
  }
  try {
    await act()
  } finally {
    for (const [topic, original] of originals) Object.assign(native[topic], original)
  }
}

/** Checks the answers of `wait(limits)`, which would have to wait. */
async function answers(wait) {
  assert.equal(await wait({ ifAvailable: true }), undefined)
  assert.equal(await wait({ ifAvailable: true, priority: 1 }), undefined)
  await assert.rejects(wait({ timeout: 0 }), late)
  await assert.rejects(wait({ timeout: 0, priority: -1 }), late)
  await assert.rejects(wait({ maxPending: 0 }), full)
  await assert.rejects(wait({ maxPending: 0, timeout: 60_000 }), full)
}

for (const [scope, begin] of Object.entries(scopes)) {
  if (scope === 'thread' || scope === 'engine') continue
  describe(`A caller that may not wait, in scope ${scope}`, () => {
    const newOptions = begin()

    it('enters no queue of a semaphore', async () => {
      const semaphore = new Semaphore(2, await newOptions())
      const [, release] = await semaphore.acquire()
      await withoutQueues(async () => {
        await answers((limits) => semaphore.acquire(2, limits))
        await assert.rejects(semaphore.waitForUnlock(2, { timeout: 0 }), late)
        const [before, releaseOne] = await semaphore.acquire({ ifAvailable: true })
        assert.equal(before, 1)
        releaseOne()
        ;(await semaphore.acquire({ timeout: 0 }))[1]()
        ;(await semaphore.acquire({ maxPending: 0 }))[1]()
      })
      release()
      assert.equal(semaphore.getValue(), 2)
    })

    it('enters no queue of a read-write lock', async () => {
      const lock = new RWLock(await newOptions())
      const release = await lock.acquireRead()
      await withoutQueues(async () => {
        await answers((limits) => lock.acquireWrite(limits))
        ;(await lock.acquireRead({ ifAvailable: true }))()
        const other = await lock.acquireRead({ timeout: 0 })
        assert.equal(await other.upgrade({ ifAvailable: true }), undefined)
        await assert.rejects(other.upgrade({ timeout: 0 }), late)
        other()
      })
      release()
      const write = await lock.acquireWrite({ ifAvailable: true })
      await withoutQueues(() => answers((limits) => lock.acquireRead(limits)))
      write()
      assert.equal(lock.isLocked(), false)
    })

    it('does not overtake a writer of a lower priority by tryAcquireRead()', async () => {
      const lock = new RWLock(await newOptions())
      const release = await lock.acquireRead()
      const writer = lock.acquireWrite({ priority: -1 })
      assert.equal(lock.tryAcquireRead(), undefined)
      assert.equal(lock.tryAcquireWrite(), undefined)
      release()
      ;(await writer)()
      assert.equal(lock.isLocked(), false)
    })

    it('enters no queue of an event', async () => {
      const event = new AutoResetEvent(await newOptions())
      await withoutQueues(async () => {
        await assert.rejects(event.wait({ timeout: 0 }), late)
        event.signal()
        await event.wait({ timeout: 0 })
      })
      assert.equal(event.isSet(), false)
    })

    it('goes behind waiters of its priority, and ahead of those below', async () => {
      const semaphore = new Semaphore(2, await newOptions())
      const [, release] = await semaphore.acquire()
      const heavy = semaphore.acquire(2, { priority: 1 })
      await withoutQueues(async () => {
        assert.equal(await semaphore.acquire({ ifAvailable: true }), undefined)
        assert.equal(await semaphore.acquire({ ifAvailable: true, priority: 1 }), undefined)
        const [, first] = await semaphore.acquire({ ifAvailable: true, priority: 2 })
        assert.equal(semaphore.getValue(), 0)
        first()
      })
      release()
      ;(await heavy)[1]()
      assert.equal(semaphore.getValue(), 2)
      assert.deepEqual(semaphore.snapshot().waiting, 0)
    })

    it('reads behind a writer of its own thread only once that has had its turn', async () => {
      const lock = new RWLock(await newOptions())
      const release = await lock.acquireRead()
      const writing = lock.acquireWrite()
      assert.equal(lock.tryAcquireRead(), undefined)
      assert.equal(await lock.acquireRead({ ifAvailable: true }), undefined)
      release()
      assert.equal(lock.tryAcquireRead(), undefined)
      ;(await writing)()
      lock.tryAcquireRead()()
      assert.equal(lock.isLocked(), false)
    })
  })
}

describe('A request that may not wait', () => {
  it('is refused without a place in the queue', async () => {
    const locks = new LockManager()
    const name = freshName()
    const release = await locks.acquire(name)
    await assert.rejects(locks.acquire(name, { timeout: 0 }), {
      ...late,
      message: `the lock "${name}" was not available within 0 ms`,
    })
    await assert.rejects(
      locks.request(name, { timeout: 0 }, () => {}),
      late,
    )
    assert.deepEqual((await locks.query()).pending, [])
    release()
    assert.equal(await locks.request(name, { timeout: 0 }, () => 'granted'), 'granted')
    assert.deepEqual((await locks.query()).held, [])
  })
})

describe('A free unit', () => {
  const agent = useAgents()

  for (const [name, limits] of Object.entries({
    ifAvailable: '{ ifAvailable: true }',
    'a timeout of 0': '{ timeout: 0 }',
    'maxPending: 0': '{ maxPending: 0 }',
  })) {
    it(`is free while another thread asks for two of them, with ${name}`, async () => {
      const options = { name: freshName() }
      const semaphore = new Semaphore(2, options)
      semaphore.tryAcquire()
      const worker = agent()
      const { done } = await worker.begins(`
        const semaphore = new Semaphore(2, ${JSON.stringify(options)})
        say('now')
        const until = performance.now() + 300
        while (performance.now() < until) await semaphore.acquire(2, ${limits}).catch(() => {})`)
      const until = performance.now() + 200
      let asked = 0
      while (performance.now() < until) {
        const ticket = semaphore.tryAcquire()
        assert.notEqual(ticket, undefined, `after ${asked} calls`)
        ticket[1]()
        asked++
      }
      await done
    })
  }
})
