'use strict'
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { eventLoop } = require('../../lib/addon/load.js')
const { freshName, useAgents, within } = require('../helpers/agents.js')
const { queued } = require('../helpers/promises.js')

const { AutoResetEvent, KeyedMutex, KeyedSemaphore } = boxoffice
const { ManualResetEvent, Mutex, Semaphore } = boxoffice

/** By class: makes a lock from options, and blocks by each of its methods. */
const forms = {
  Mutex: [
    (o) => new Mutex(o),
    {
      lockSync: (l, o) => l.lockSync(o),
      acquireSync: (l, o) => l.acquireSync(o),
      runExclusiveSync: (l, o) => l.runExclusiveSync(() => {}, o),
    },
  ],
  Semaphore: [
    (o) => new Semaphore(1, o),
    {
      acquireSync: (l, o) => l.acquireSync(1, o),
      'acquireSync(options)': (l, o) => l.acquireSync(o),
      runExclusiveSync: (l, o) => l.runExclusiveSync(() => {}, 1, o),
    },
  ],
  KeyedMutex: [
    (o) => new KeyedMutex(o),
    {
      lockSync: (l, o) => l.lockSync('a', o),
      acquireSync: (l, o) => l.acquireSync('a', o),
      'acquireSync([])': (l, o) => l.acquireSync(['a', 'b'], o),
      runExclusiveSync: (l, o) => l.runExclusiveSync('a', () => {}, o),
    },
  ],
  KeyedSemaphore: [
    (o) => new KeyedSemaphore(1, o),
    {
      acquireSync: (l, o) => l.acquireSync('a', 1, o),
      'acquireSync([])': (l, o) => l.acquireSync(['a', 'b'], 1, o),
      runExclusiveSync: (l, o) => l.runExclusiveSync('a', () => {}, 1, o),
    },
  ],
  AutoResetEvent: [
    (o) => new AutoResetEvent({ isSet: true, ...o }),
    { waitSync: (l, o) => l.waitSync(o) },
  ],
  ManualResetEvent: [
    (o) => new ManualResetEvent({ isSet: true, ...o }),
    { waitSync: (l, o) => l.waitSync(o) },
  ],
}
const bad = [null, 1, 'a', { timeout: '1' }, { timeout: null }, { timeout: NaN }, { timeout: -1 }]
bad.push({ priority: 'a' }, { priority: NaN }, { signal: new AbortController().signal })

for (const [name, [make, methods]] of Object.entries(forms)) {
  describe(`${name}: blocking`, () => {
    for (const [method, call] of Object.entries(methods)) {
      it(`${method} throws on the main thread, unless blocking is allowed`, () => {
        assert.throws(() => call(make({})), { name: 'TypeError', message: /block the main thread/ })
        call(make({ allowBlockingMainThread: true }))
        assert.throws(() => make({ allowBlockingMainThread: 1 }), TypeError)
      })

      it(`${method} throws for invalid wait options, and changes nothing`, () => {
        const lock = make({ allowBlockingMainThread: true })
        for (const options of bad) {
          const isPriority = options === 1 && method === 'acquireSync(options)'
          if (!isPriority) assert.throws(() => call(lock, options), /./, JSON.stringify(options))
        }
        call(lock, { timeout: 0, priority: 1 })
      })

      it(`${method} times out, or throws when it would wait for itself`, async () => {
        const id = freshName()
        const shared = make({ name: id, allowBlockingMainThread: true })
        const alone = make({ allowBlockingMainThread: true })
        const isEvent = method === 'waitSync'
        const takeAll = (lock) => {
          lock.reset?.()
          isEvent ? lock.tryWait() : lock.tryAcquire(...(name === 'Mutex' ? [] : ['a']))
        }
        if (name === 'Semaphore') {
          alone.tryAcquire()
          shared.tryAcquire()
        } else {
          takeAll(alone)
          takeAll(shared)
        }
        assert.throws(() => call(alone, { timeout: 5 }), { code: 'ERR_LOCK_DEADLOCK' })
        const own = name.endsWith('Mutex') ? 'ERR_LOCK_DEADLOCK' : 'ERR_LOCK_TIMEOUT'
        const before = performance.now()
        assert.throws(() => call(shared, { timeout: 20 }), { code: own })
        if (own === 'ERR_LOCK_TIMEOUT') assert.ok(performance.now() - before >= 19)
      })
    }
  })
}

describe('blocking', () => {
  const agent = useAgents()
  const head = 'const mutex = (my.mutex ??= new Mutex({ name: workerData }));'

  it('returns the result, and releases when the callback throws', () => {
    const allowed = { allowBlockingMainThread: true }
    const mutex = new Mutex(allowed)
    assert.equal(mutex.lockSync(), undefined)
    mutex.unlock()
    const release = mutex.acquireSync()
    assert.equal(release.abandoned, false)
    release()
    release()
    const result = mutex.runExclusiveSync(() => {
      assert.ok(mutex.isLocked())
      return 3
    })
    assert.equal(result, 3)
    const fail = () => {
      throw new Error('mine')
    }
    assert.throws(() => mutex.runExclusiveSync(fail), /mine/)
    const semaphore = new Semaphore(3, allowed)
    const [before, give] = semaphore.acquireSync({ weight: 2 })
    assert.deepEqual([before, semaphore.getValue()], [3, 1])
    give()
    assert.throws(() => semaphore.runExclusiveSync(fail, 3), /mine/)
    assert.equal(
      semaphore.runExclusiveSync((value) => value, 2),
      3,
    )
    const locks = new KeyedMutex(allowed)
    assert.throws(() => locks.runExclusiveSync(['b', 'a', 'b'], fail), /mine/)
    assert.throws(() => mutex.runExclusiveSync(), TypeError)
    assert.deepEqual([mutex.isLocked(), semaphore.getValue(), locks.size], [false, 3, 0])
  })

  it('several keys share one timeout, and none is kept after it', async () => {
    const name = freshName()
    const worker = agent(name)
    await worker.does(`await (my.locks = new KeyedMutex({ name: workerData })).lock('b')`)
    const locks = new KeyedMutex({ name, allowBlockingMainThread: true })
    const late = { code: 'ERR_LOCK_TIMEOUT', message: /"a", "b"/ }
    assert.throws(() => locks.acquireSync(['b', 'a'], { timeout: 10 }), late)
    assert.deepEqual([...locks.keys()], ['b'])
    await locks.lock('a')
    const both = { code: 'ERR_LOCK_DEADLOCK' }
    assert.throws(() => locks.acquireSync(['a', 'c'], { timeout: 10 }), both)
    assert.equal(locks.isLocked('c'), false)
  })

  it('throws when a promise of the same thread waits, which could not proceed', async () => {
    const name = freshName()
    const mutex = new Mutex({ name })
    await mutex.lock()
    const worker = agent(name)
    const code = `${head} my.wait = mutex.lock(); return codeOf(() => mutex.lockSync())`
    assert.equal(await worker.does(code), 'ERR_LOCK_DEADLOCK')
    mutex.unlock()
    await worker.does(`${head} await my.wait; mutex.unlock()`)
  })

  it('waits for its turn where an aborted waiter of its thread is being admitted', async () => {
    const name = freshName()
    const steps = new Int32Array(new SharedArrayBuffer(8))
    const worker = agent({ name, steps })
    await worker.begins(`
      const { name, steps } = workerData
      const mutex = new Mutex({ name })
      await mutex.lock()
      say(1)
      Atomics.wait(steps, 0, 0)
      mutex.unlock()
      Atomics.store(steps, 1, 1)
      Atomics.notify(steps, 1)`)
    const mutex = new Mutex({ name, fairness: 'fifo', allowBlockingMainThread: true })
    const controller = new AbortController()
    const waiting = mutex.acquire({ signal: controller.signal })
    const settled = assert.rejects(waiting, /aborted/)
    Atomics.store(steps, 0, 1)
    Atomics.notify(steps, 0)
    Atomics.wait(steps, 1, 0)
    // The worker could be interrupted between its change of the word and its post to this thread.
    const { postedCompletions } = eventLoop
    let looks = 0
    eventLoop.postedCompletions = () => (++looks < 5 ? 0 : postedCompletions())
    try {
      controller.abort(new Error('aborted'))
      mutex.lockSync()
    } finally {
      eventLoop.postedCompletions = postedCompletions
    }
    assert.equal(looks, 5)
    assert.ok(mutex.isLocked())
    mutex.unlock()
    assert.ok(!mutex.isLocked())
    await settled
  })

  it('reports the death of the holder', async () => {
    const name = freshName()
    const dying = agent(name)
    await dying.does(`${head} mutex.lockSync()`)
    const worker = agent(name)
    const { done } = await worker.begins(`${head} say(1); return mutex.acquireSync().abandoned`)
    await queued(new Mutex({ name }))
    await dying.dies()
    assert.equal(await done, true)
  })

  it('passes a death on to the next grant if the waiter that was to be told has died', async () => {
    const name = freshName()
    const dying = agent(name)
    await dying.does(`${head} mutex.lockSync()`)
    const second = agent(name)
    await second.begins(`${head} mutex.acquire(); say(1); for (;;);`)
    const mutex = new Mutex({ name })
    await queued(mutex)
    await dying.dies()
    const wait = mutex.acquire()
    await second.dies()
    assert.equal((await wait).abandoned, true)
  })

  it('terminate() interrupts it, and so does a timeout of vm', async () => {
    const name = freshName()
    const mutex = new Mutex({ name })
    await mutex.lock()
    const worker = agent(name)
    await worker.begins(`${head} say(1); mutex.lockSync()`)
    await queued(mutex)
    await within(8000, worker.dies())
    const other = agent(name)
    const { done } = await other.begins(`${head}
      const { runInNewContext } = vm
      const code = await codeOf(() => runInNewContext('mutex.lockSync()', { mutex }, { timeout: 60 }))
      say(code)
      mutex.lockSync()
      mutex.unlock()
      return code`)
    await queued(mutex)
    mutex.unlock()
    assert.equal(await done, 'ERR_SCRIPT_EXECUTION_TIMEOUT')
  })

  it('leaves the mutex free where a timeout of vm ends a wait for a condition variable', async () => {
    const name = freshName()
    const mutex = new Mutex({ name })
    const seen = await agent(name).does(`
      const options = { name: workerData }
      const [mutex, condition] = [new Mutex(options), new ConditionVariable(options)]
      mutex.lockSync()
      const { runInNewContext } = vm
      const wait = () => runInNewContext('condition.waitSync(mutex)', { condition, mutex }, { timeout: 60 })
      const code = await codeOf(wait)
      mutex.release()
      const again = mutex.tryLock()
      mutex.unlock()
      return [code, again]`)
    assert.deepEqual(seen, ['ERR_SCRIPT_EXECUTION_TIMEOUT', true])
    const release = await within(8000, mutex.acquire())
    release()
  })
})
