'use strict'
// Many waits that share one AbortSignal.
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const { KeyedMutex, LockManager, Mutex, RWLock, Semaphore, withTimeout } = require('../..')
const { inChild } = require('../helpers/children.js')

const listeners = (signal) => getEventListeners(signal, 'abort').length

/** Each acquires a lock, and returns a function that waits for it and one that releases it. */
const ways = {
  'Mutex.acquire': () => {
    const mutex = new Mutex()
    mutex.tryLock()
    return { wait: (options) => mutex.runExclusive(() => {}, options), free: () => mutex.unlock() }
  },
  'Mutex.waitForUnlock': () => {
    const mutex = new Mutex()
    mutex.tryLock()
    return { wait: (options) => mutex.waitForUnlock(options), free: () => mutex.unlock() }
  },
  'Semaphore.acquire': () => {
    const semaphore = new Semaphore(1)
    const [, free] = semaphore.tryAcquire()
    return { wait: (options) => semaphore.runExclusive(() => {}, 1, options), free }
  },
  'RWLock.acquireRead': () => {
    const lock = new RWLock()
    return { wait: (options) => lock.runShared(() => {}, options), free: lock.tryAcquireWrite() }
  },
  'KeyedMutex.acquire of several keys': () => {
    const locks = new KeyedMutex()
    const free = locks.tryAcquire('b')
    return { wait: (options) => locks.runExclusive(['a', 'b'], () => {}, options), free }
  },
  'LockManager.request': () => {
    const locks = new LockManager()
    let free
    locks.request('one signal', () => new Promise((resolve) => (free = resolve)))
    return { wait: (options) => locks.request('one signal', options, () => {}), free: () => free() }
  },
  withTimeout: () => {
    const mutex = new Mutex()
    mutex.tryLock()
    const limited = withTimeout(mutex, 60_000)
    return { wait: (options) => limited.waitForUnlock(options), free: () => mutex.unlock() }
  },
}

/**
 * For a child process: steps(count) is how often pieces of JavaScript, of Node.js too, run while
 * `count` waiters begin to wait and one signal aborts them. V8 counts them, so the number does not
 * depend on the machine.
 */
const countSteps = `
  const { Session } = require('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  async function steps(count) {
    const controller = new AbortController()
    const mutex = new Mutex()
    mutex.tryLock()
    // Each reading begins a new count.
    await session.post('Profiler.takePreciseCoverage')
    const all = Array.from({ length: count }, () => mutex.acquire({ signal: controller.signal }))
    const settled = Promise.allSettled(all)
    controller.abort()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    for (const { status } of await settled) if (status !== 'rejected') throw new Error(status)
    let sum = 0
    for (const { functions } of result) {
      for (const { ranges } of functions) for (const range of ranges) sum += range.count
    }
    return sum
  }`

describe('waiters that share one signal', () => {
  for (const [name, take] of Object.entries(ways)) {
    it(`have one listener, and none once they are granted: ${name}`, async () => {
      const { signal } = new AbortController()
      const { wait, free } = take()
      await null
      const all = Array.from({ length: 100 }, () => wait({ signal }))
      await null
      assert.equal(listeners(signal), 1)
      free()
      await Promise.all(all)
      assert.equal(listeners(signal), 0)
    })

    it(`have no listener once they are aborted: ${name}`, async () => {
      const controller = new AbortController()
      const { signal } = controller
      const { wait, free } = take()
      await null
      const all = Array.from({ length: 100 }, () => wait({ signal }))
      await null
      controller.abort('mine')
      for (const { reason } of await Promise.allSettled(all)) assert.equal(reason, 'mine')
      assert.equal(listeners(signal), 0)
      free()
    })
  }

  it('keep waiting with the signal when other waiters have left', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const mutex = new Mutex()
    mutex.tryLock()
    const first = mutex.lock({ signal })
    mutex.unlock()
    await first
    assert.equal(listeners(signal), 0)
    const second = mutex.lock({ signal })
    const third = mutex.lock({ signal })
    mutex.unlock()
    await second
    assert.equal(listeners(signal), 1)
    controller.abort('mine')
    await assert.rejects(third, (reason) => reason === 'mine')
  })

  it('are not aborted when an earlier abort has granted them the lock', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const semaphore = new Semaphore(1)
    const heavy = new Semaphore(2)
    const [, release] = heavy.tryAcquire(1)
    // It waits for 2 units of 1, and blocks the next waiter until it leaves.
    const first = heavy.acquire(2, { signal })
    const second = heavy.acquire(1)
    const third = semaphore.acquire(1, { signal })
    controller.abort('mine')
    await assert.rejects(first, (reason) => reason === 'mine')
    ;(await second)[1]()
    ;(await third)[1]()
    release()
    assert.equal(heavy.getValue(), 2)
  })

  it('are all aborted, even if the reason throws for one of them', async () => {
    const thrown = new Error('no reason')
    const listened = []
    let asked = 0
    const signal = {
      aborted: false,
      addEventListener: (_, listener) => listened.push(listener),
      removeEventListener() {},
      get reason() {
        if (asked++ === 0) throw thrown
        return 'mine'
      },
    }
    const caught = new Promise((resolve) => {
      const handlers = process.listeners('uncaughtException')
      process.removeAllListeners('uncaughtException')
      process.once('uncaughtException', (error) => {
        for (const handler of handlers) process.on('uncaughtException', handler)
        resolve(error)
      })
    })
    const mutex = new Mutex()
    mutex.tryLock()
    const first = mutex.lock({ signal })
    const second = mutex.lock({ signal })
    for (const listener of listened) listener()
    await assert.rejects(second, (reason) => reason === 'mine')
    assert.equal(await caught, thrown)
    mutex.unlock()
    await first
  })

  it('are aborted in linear time', async () => {
    const [few, many] = await inChild(`${countSteps}
      show(await steps(1_000))
      show(await steps(8_000))`)
    assert.ok(few > 1_000, `${few} steps are too few to be all`)
    // With quadratic cost it would be 64 times as many.
    assert.ok(many < 9 * few, `${few} steps for 1,000, ${many} steps for 8,000`)
  })
})
