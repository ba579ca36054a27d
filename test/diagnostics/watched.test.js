'use strict'
// The reports of a watched lock.
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const {
  AutoResetEvent,
  Barrier,
  ConditionVariable,
  DiningPhilosophers,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LockManager,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
  snapshot,
} = require('../..')
const { freshName, sleep, useAgents } = require('../helpers/agents.js')
const { FakeClock } = require('../helpers/fake_clock.js')
const { queued, turn } = require('../helpers/promises.js')
const { totals } = require('../helpers/totals.js')
const { packageWithClock } = require('../helpers/vm_instances.js')

const execute = promisify(execFile)

const vmInstances = require.resolve('../helpers/vm_instances.js')
const countsOf = (lock) => lock.snapshot().totals
const codeOf = (promise) => promise.catch(({ code }) => code)

describe("A free mutex with fairness: 'fifo'", () => {
  for (const diagnostics of ['counters', true]) {
    it(`reports no waits, with diagnostics: ${diagnostics}`, async () => {
      const mutex = new Mutex({ name: freshName(), fairness: 'fifo', diagnostics })
      for (const options of [undefined, { priority: 1 }, { timeout: 1000 }]) {
        const release = await mutex.acquire(options)
        const { holders, oldestWait, totals } = mutex.snapshot()
        assert.deepEqual([holders.length, oldestWait, totals.contended], [1, undefined, 0])
        release()
      }
      const { oldestWait, waiting } = mutex.snapshot()
      assert.deepEqual([oldestWait, waiting], [undefined, 0])
    })
  }
})

describe('The waiters of one turn of the event loop', () => {
  for (const diagnostics of ['counters', true]) {
    it(`are listed by what they wait for, with diagnostics: ${diagnostics}`, async () => {
      const [forLock, forUnits] = [freshName(), freshName()]
      const lock = new RWLock({ diagnostics, name: forLock })
      const ends = [await lock.acquireWrite()]
      const waits = [lock.acquireWrite(), lock.acquireRead(), lock.acquireRead()]
      const units = new Semaphore(3, { diagnostics, name: forUnits })
      ends.push((await units.acquire(3))[1])
      for (const weight of [1, 3, 2]) waits.push(units.acquire(weight))
      const { locks } = await snapshot()
      const waitersOf = (wanted) => locks.find(({ name }) => name === wanted).waiters
      assert.deepEqual(
        waitersOf(forLock).map(({ mode }) => mode),
        ['exclusive', 'shared', 'shared'],
      )
      assert.deepEqual(
        waitersOf(forUnits).map(({ weight }) => weight),
        [1, 3, 2],
      )
      for (const wait of waits) wait.then((ticket) => ticket.release())
      for (const end of ends) end()
      await Promise.all(waits)
    })
  }
})

describe('The error of a timeout, with diagnostics: true', () => {
  const watched = { diagnostics: true }
  const deferred = () => {
    let resolve
    const promise = new Promise((settle) => {
      resolve = settle
    })
    return { promise, resolve }
  }
  const limit = { timeout: 5 }
  const mutex = new Mutex(watched)
  const semaphore = new Semaphore(1, watched)
  const lock = new RWLock(watched)
  const keyed = new KeyedMutex(watched)
  const named = new KeyedMutex({ ...watched, name: 'stacks' })
  const recursive = new RecursiveMutex(watched)

  for (const [name, hold, wait] of [
    ['Mutex', (work) => mutex.runExclusive(work), () => mutex.acquire(limit)],
    ['Semaphore', (work) => semaphore.runExclusive(work), () => semaphore.acquire(limit)],
    ['RWLock', (work) => lock.runExclusive(work), () => lock.acquireRead(limit)],
    ['KeyedMutex', (work) => keyed.runExclusive('a', work), () => keyed.acquire('a', limit)],
    [
      'KeyedMutex with several keys',
      (work) => keyed.runExclusive('a', work),
      () => keyed.acquire(['a', 'b'], limit),
    ],
    [
      'KeyedMutex by name with several keys',
      (work) => named.runExclusive('a', work),
      () => named.acquire(['a', 'b'], limit),
    ],
    [
      'RecursiveMutex',
      (work) => recursive.runExclusive(work),
      () => recursive.runExclusive(() => {}, limit),
    ],
  ]) {
    it(`has the stack of the caller that waited for a ${name}`, async () => {
      const { promise, resolve } = deferred()
      const held = hold(() => promise)
      const waitsForIt = () => wait()
      const error = await waitsForIt().catch((reason) => reason)
      resolve()
      await held
      assert.equal(error.code, 'ERR_LOCK_TIMEOUT')
      const [heading, ...frames] = error.stack.split('\n')
      assert.equal(heading, `Error: ${error.message}`)
      assert.ok(frames.some((frame) => frame.includes('waitsForIt')))
      assert.ok(frames.every((frame) => !frame.includes('listOnTimeout')))
    })
  }
})

describe('Options of diagnostics', () => {
  it('are checked', () => {
    for (const diagnostics of ['full', 1, null, {}]) {
      assert.throws(() => new Mutex({ diagnostics }), TypeError)
      assert.throws(() => new KeyedMutex({ diagnostics }), TypeError)
    }
    assert.throws(() => new Mutex({ warnAfter: '5' }), TypeError)
    for (const warnAfter of [0, -1, Number.NaN]) {
      assert.throws(() => new Mutex({ warnAfter }), RangeError)
    }
    assert.ok(new Mutex({ diagnostics: false, warnAfter: Infinity }))
  })

  it('are checked in the environment, too, when the package is loaded', async () => {
    const code = `require(${JSON.stringify(require.resolve('../..'))})`
    const env = { ...process.env, BOXOFFICE_DIAGNOSTICS: 'yes' }
    const error = await execute(process.execPath, ['-e', code], { env }).catch((reason) => reason)
    assert.equal(error.code, 1)
    assert.match(
      error.stderr,
      /TypeError: BOXOFFICE_DIAGNOSTICS must be 1 \(or true\), order, counters or 0 \(or false\), not "yes"/,
    )
  })

  it('are read from the environment as numbers and as words', async () => {
    const code = `
      const { Mutex } = require(${JSON.stringify(require.resolve('../..'))})
      const { holders } = new Mutex().snapshot()
      process.stdout.write(String(holders !== undefined))`
    for (const [text, isWatched] of [
      ['1', 'true'],
      ['true', 'true'],
      ['order', 'true'],
      ['counters', 'true'],
      ['0', 'false'],
      ['false', 'false'],
      ['', 'false'],
    ]) {
      const env = { ...process.env, BOXOFFICE_DIAGNOSTICS: text }
      const { stdout } = await execute(process.execPath, ['-e', code], { env })
      assert.equal(stdout, isWatched, text)
    }
  })

  it('are refused by classes without diagnostics, while the environment is ignored there', () => {
    assert.throws(
      () => new AutoResetEvent({ diagnostics: true }),
      /diagnostics are not available for/,
    )
    assert.throws(() => new ConditionVariable({ diagnostics: 'counters' }), TypeError)
    assert.throws(() => new Barrier(2, { warnAfter: 5 }), TypeError)
    assert.throws(
      () => new DiningPhilosophers(3, { diagnostics: true }),
      /diagnostics are not available for dining philosophers/,
    )
    assert.throws(
      () => new LockManager({ diagnostics: 'counters' }),
      /diagnostics are not available for/,
    )
    assert.ok(new AutoResetEvent({ diagnostics: false }))
  })

  it('are refused on Bun, where no deadlock would be found, except for counters', () => {
    globalThis.Bun = {}
    try {
      const refused = { code: 'ERR_LOCK_UNSUPPORTED', message: /use 'counters'/ }
      assert.throws(() => new Mutex({ diagnostics: true }), refused)
      assert.ok(new Mutex({ diagnostics: 'counters' }))
    } finally {
      delete globalThis.Bun
    }
  })

  it('are off by default, with the plain snapshot', () => {
    if (process.env.BOXOFFICE_DIAGNOSTICS) return
    assert.deepEqual(new Mutex().snapshot(), { locked: false, waiting: 0 })
    assert.deepEqual(new Mutex({ diagnostics: false }).snapshot(), { locked: false, waiting: 0 })
  })
})

for (const diagnostics of ['counters', true]) {
  describe(`A snapshot of a lock with diagnostics: ${diagnostics}`, () => {
    const agent = useAgents()

    it('uses a clock whose timers are numbers', async () => {
      const clock = new FakeClock()
      try {
        const mutex = new Mutex({ diagnostics })
        await mutex.lock()
        const late = codeOf(mutex.acquire({ timeout: 10 }))
        clock.advance(10)
        assert.equal(await late, 'ERR_LOCK_TIMEOUT')
        assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1, timeouts: 1 }))
      } finally {
        clock.restore()
      }
    })

    it('reports how long a thread was blocked', async () => {
      const name = freshName()
      const mutex = new Mutex({ name, diagnostics })
      await mutex.lock()
      const time = new Int32Array(new SharedArrayBuffer(4))
      const { done } = await agent({ name, time, vmInstances }).begins(`
        const { name, time, vmInstances } = workerData
        // Any thread may let the time of this one pass, while it is blocked.
        const clock = { get now() { return 1000 + Atomics.load(time, 0) } }
        const clocked = require(vmInstances).packageWithClock(clock)('../..')
        const mutex = new clocked.Mutex({ name, diagnostics: ${JSON.stringify(diagnostics)} })
        say('now')
        mutex.lockSync()
        const { waits } = mutex.snapshot()
        mutex.unlock()
        return waits.max`)
      await queued(mutex)
      Atomics.store(time, 0, 50)
      mutex.unlock()
      assert.equal(await done, 50)
    })

    it('reports the holder of a mutex, since when, and how long its waiters have waited', async () => {
      const clock = { now: 1000 }
      const clocked = packageWithClock(clock)('../..')
      const mutex = new clocked.Mutex({ diagnostics })
      const release = await mutex.acquire()
      await turn()
      clock.now += 5
      const late = mutex.acquire()
      clock.now += 20
      const { locked, waiting, holders, oldestWait } = mutex.snapshot()
      assert.equal(locked, true)
      assert.equal(waiting, 1)
      assert.equal(holders.length, 1)
      const [{ thread, since, heldFor, mode, stack }] = holders
      assert.equal(thread, 0)
      assert.equal(mode, 'exclusive')
      assert.deepEqual([since, heldFor, oldestWait], [1000, 25, 20])
      if (diagnostics === true) assert.match(stack, /watched\.test\.js/)
      else assert.equal(stack, undefined)
      // 'counters' reads the clock once per turn of the event loop: the wait ends in another turn than it began in.
      await turn()
      release()
      await (await late)()
      const { waits, ...idle } = mutex.snapshot()
      assert.deepEqual(idle.holders, [])
      assert.equal(idle.oldestWait, undefined)
      assert.deepEqual([waits.p50, waits.p99, waits.max], [20, 20, 20])
      assert.equal(
        waits.buckets.reduce((sum, some) => sum + some),
        1,
      )
    })

    it('counts each form of a mutex once', async () => {
      const mutex = new Mutex({ diagnostics })
      await mutex.lock()
      mutex.unlock()
      ;(await mutex.acquire())()
      mutex.tryAcquire().release()
      mutex.tryLock()
      assert.equal(mutex.tryLock(), false)
      assert.equal(mutex.tryAcquire(), undefined)
      mutex.release()
      mutex.release()
      await mutex.runExclusive(() => {})
      await assert.rejects(
        mutex.runExclusive(() => Promise.reject(new Error('mine'))),
        /mine/,
      )
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 6 }))
    })

    it('counts waiters, and waiters that give up', async () => {
      const mutex = new Mutex({ diagnostics })
      mutex.tryLock() // not awaited, so that this chain of calls does not wait for itself
      const granted = mutex.lock()
      const controller = new AbortController()
      const ends = [
        codeOf(mutex.lock({ timeout: 0 })),
        codeOf(mutex.acquire({ timeout: 5 })),
        codeOf(mutex.runExclusive(() => {}, { signal: controller.signal })),
        codeOf(mutex.acquire({ signal: AbortSignal.abort() })),
      ]
      controller.abort()
      await Promise.all(ends)
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1, timeouts: 2, aborts: 2 }))
      const canceled = codeOf(mutex.acquire())
      mutex.cancel()
      assert.equal(await granted.catch(() => 'canceled'), 'canceled')
      await canceled
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1, timeouts: 2, aborts: 4 }))
      const next = mutex.lock()
      mutex.unlock()
      await next
      mutex.unlock()
      const now = { acquisitions: 2, contended: 1, timeouts: 2, aborts: 4 }
      assert.deepEqual(countsOf(mutex), totals(now))
      assert.deepEqual(mutex.snapshot().holders, [])
    })

    it('does not count callers that only wait for a release', async () => {
      const mutex = new Mutex({ diagnostics, name: freshName() })
      await mutex.lock()
      const seen = mutex.waitForUnlock()
      mutex.unlock()
      await seen
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1 }))
      assert.deepEqual(mutex.snapshot().holders, [])
    })

    it('does not count callers that would wait for a release, and may not wait', async () => {
      const mutex = new Mutex({ diagnostics, name: freshName() })
      await mutex.lock()
      await assert.rejects(mutex.waitForUnlock({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1 }))
      mutex.unlock()
    })

    it('counts the return from a condition variable', async () => {
      const mutex = new Mutex({ diagnostics })
      const condition = new ConditionVariable()
      await mutex.lock()
      const back = condition.wait(mutex)
      assert.deepEqual(mutex.snapshot().holders, [])
      condition.notifyAll()
      await back
      assert.equal(mutex.snapshot().holders.length, 1)
      assert.equal(countsOf(mutex).acquisitions, 2)
      mutex.unlock()
    })

    it('reports the holders of a semaphore, with their weights', async () => {
      const semaphore = new Semaphore(5, { diagnostics })
      const [, release] = await semaphore.acquire(3)
      await new Promise(setImmediate)
      semaphore.tryAcquire(1)
      const late = semaphore.acquire(4)
      assert.deepEqual(
        semaphore.snapshot().holders.map(({ weight }) => weight),
        [3, 1],
      )
      release()
      release()
      const [, last] = await late
      assert.deepEqual(countsOf(semaphore), totals({ acquisitions: 3, contended: 1 }))
      // Without a releaser the oldest hold ends, whichever caller has it.
      semaphore.release(2)
      assert.deepEqual(
        semaphore.snapshot().holders.map(({ weight }) => weight),
        [3],
      )
      last()
      assert.deepEqual(semaphore.snapshot().holders, [])
      await semaphore.runExclusive(() => assert.equal(semaphore.snapshot().holders.length, 1))
      assert.deepEqual(semaphore.snapshot().holders, [])
      semaphore.setValue(0)
      assert.equal(await codeOf(semaphore.acquire({ timeout: 0 })), 'ERR_LOCK_TIMEOUT')
      assert.equal(countsOf(semaphore).timeouts, 1)
    })

    it('distinguishes readers from the writer, through upgrade and downgrade', async () => {
      const lock = new RWLock({ diagnostics })
      const modes = () => lock.snapshot().holders.map(({ mode }) => mode)
      const reader = await lock.acquireRead()
      const other = lock.tryAcquireRead()
      assert.deepEqual(modes(), ['shared', 'shared'])
      const rising = reader.upgrade()
      assert.equal(await codeOf(other.upgrade()), 'ERR_LOCK_UPGRADE')
      other()
      const writer = await rising
      assert.deepEqual(modes(), ['exclusive'])
      assert.deepEqual(countsOf(lock), totals({ acquisitions: 3, contended: 1 }))
      assert.equal(await codeOf(lock.acquireRead({ timeout: 0 })), 'ERR_LOCK_TIMEOUT')
      const again = writer.downgrade()
      assert.deepEqual(modes(), ['shared'])
      const second = await lock.acquireRead()
      assert.equal(await codeOf(again.upgrade({ timeout: 0 })), 'ERR_LOCK_TIMEOUT')
      assert.equal(await codeOf(again.upgrade({ timeout: 1 })), 'ERR_LOCK_TIMEOUT')
      again()
      second()
      assert.deepEqual(modes(), [])
      await lock.runShared(() => assert.deepEqual(modes(), ['shared']))
      await lock.runExclusive(() => assert.deepEqual(modes(), ['exclusive']))
      const expected = totals({ acquisitions: 7, contended: 1, timeouts: 3 })
      assert.deepEqual(countsOf(lock), expected)
    })

    it('counts the outermost hold of a recursive mutex', async () => {
      const mutex = new RecursiveMutex({ diagnostics })
      await mutex.runExclusive(() =>
        mutex.runExclusive(() => assert.equal(mutex.snapshot().holders.length, 1)),
      )
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1 }))
      assert.deepEqual(mutex.snapshot().holders, [])
    })

    it('exists for each busy key of a keyed map', async () => {
      const mutexes = new KeyedMutex({ diagnostics })
      const release = await mutexes.acquire('a')
      mutexes.lock('a').catch(() => {})
      await mutexes.lock(1)
      const [a, one] = mutexes.snapshot()
      assert.deepEqual([a.key, a.waiting, a.holders.length], ['a', 1, 1])
      assert.ok(a.oldestWait >= 0)
      assert.deepEqual([one.key, one.waiting, one.holders.length], [1, 0, 1])
      mutexes.cancelAll()
      release()
      mutexes.unlock(1)
      assert.deepEqual(mutexes.snapshot(), [])
      const semaphores = new KeyedSemaphore(2, { diagnostics })
      await semaphores.acquire(['x', 'y'])
      assert.deepEqual(
        semaphores.snapshot().map(({ key, holders }) => [key, holders[0].weight]),
        [
          ['x', 1],
          ['y', 1],
        ],
      )
      semaphores.release('x')
      semaphores.release('y')
      const locks = new KeyedRWLock({ diagnostics, name: freshName() })
      const read = await locks.acquireRead('k')
      assert.equal(locks.snapshot()[0].holders[0].mode, 'shared')
      read()
      assert.deepEqual(locks.snapshot(), [])
    })

    it('counts blocking calls in a worker, and knows the thread of a holder', async () => {
      const name = freshName()
      const options = `{ name: '${name}', diagnostics: ${JSON.stringify(diagnostics)} }`
      const mutex = new Mutex({ name, diagnostics })
      const worker = agent()
      const { threadId } = worker.worker
      await worker.does(`my.mutex = new Mutex(${options}); my.mutex.lockSync()`)
      const [holder] = mutex.snapshot().holders
      assert.deepEqual([holder.thread, holder.since], [threadId, undefined])
      await worker.does('my.mutex.unlock()')
      await mutex.lock()
      const { done } = await worker.begins(`say('now'); my.mutex.lockSync({ timeout: 5000 })
        const { holders, totals } = my.mutex.snapshot()
        try { new Mutex(${options}).tryAcquire() } finally { my.mutex.unlock() }
        return { count: holders.length, totals }`)
      while (mutex.snapshot().waiting === 0) await sleep(1)
      mutex.unlock()
      const seen = await done
      assert.equal(seen.count, 1)
      assert.deepEqual(seen.totals, totals({ acquisitions: 2, contended: 1 }))
      await mutex.lock()
      const late = await worker.does(`
        const code = await codeOf(() => my.mutex.acquireSync({ timeout: 5 }))
        const now = await codeOf(() => my.mutex.acquireSync({ timeout: 0 }))
        return { code, now, totals: my.mutex.snapshot().totals }`)
      assert.equal(late.code, 'ERR_LOCK_TIMEOUT')
      assert.deepEqual(late.totals, totals({ acquisitions: 2, contended: 1, timeouts: 2 }))
      mutex.unlock()
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 2 }))
    })

    it('counts locks left by a dead thread', async () => {
      const name = freshName()
      const mutex = new Mutex({ name, diagnostics })
      const worker = agent()
      await worker.does(`await new Mutex({ name: '${name}' }).lock()`)
      const next = mutex.acquire()
      await worker.dies()
      const release = await next
      assert.equal(release.abandoned, true)
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1, contended: 1, abandoned: 1 }))
      release()
    })

    it('counts locks left by a dead thread, for a caller that tries', async () => {
      const name = freshName()
      const mutex = new Mutex({ name, diagnostics })
      const worker = agent()
      await worker.does(`await new Mutex({ name: '${name}' }).lock()`)
      await worker.dies()
      const release = mutex.tryAcquire()
      assert.equal(release.abandoned, true)
      assert.equal(mutex.snapshot().holders.length, 1)
      assert.deepEqual(countsOf(mutex), totals({ acquisitions: 1, abandoned: 1 }))
      release()
    })

    it('does not keep the grant by which it was told of a death, if its caller did not see it', async () => {
      const name = freshName()
      const locks = new KeyedMutex({ name, diagnostics })
      const worker = agent()
      await worker.does(`await new KeyedMutex({ name: '${name}' }).acquire('a')`)
      await worker.dies()
      const other = await locks.acquire('z')
      assert.equal(await codeOf(locks.acquire(['a', 'z'], { timeout: 20 })), 'ERR_LOCK_TIMEOUT')
      other()
      assert.deepEqual(
        locks.snapshot().flatMap(({ holders }) => holders.map(({ since }) => since)),
        [],
      )
      const next = await locks.acquire('a')
      assert.equal(next.abandoned, true)
      assert.equal(locks.snapshot()[0].holders.length, 1)
      next()
    })

    it('is the same for all objects of a thread for one lock', async () => {
      const name = freshName()
      const one = new Mutex({ name, diagnostics })
      const other = new Mutex({ name, diagnostics })
      await one.lock()
      assert.equal(other.snapshot().holders.length, 1)
      other.unlock()
      assert.deepEqual(one.snapshot().holders, [])
      const { buffer } = new Mutex({ shared: true })
      const here = new Semaphore(1, {
        diagnostics,
        buffer: new Semaphore(1, { shared: true }).buffer,
      })
      assert.equal(here.snapshot().totals.acquisitions, 0)
      assert.ok(new Mutex({ buffer, diagnostics }).tryLock())
    })
  })
}

describe('A snapshot of a lock with diagnostics: counters', () => {
  const diagnostics = 'counters'
  const nextTurn = () => new Promise(setImmediate)

  it('reports the holds of one callback of the event loop together', async () => {
    const semaphore = new Semaphore(9, { diagnostics })
    const weights = () => semaphore.snapshot().holders.map(({ weight }) => weight)
    const [, one] = await semaphore.acquire(1)
    const [, two] = await semaphore.acquire(2)
    assert.deepEqual(weights(), [3])
    await nextTurn()
    const [, four] = await semaphore.acquire(4)
    assert.deepEqual(weights(), [3, 4])
    one()
    assert.deepEqual(weights(), [2, 4])
    four()
    two()
    assert.deepEqual(weights(), [])
    const lock = new RWLock({ diagnostics })
    const readers = await Promise.all([lock.acquireRead(), lock.acquireRead()])
    assert.equal(lock.snapshot().holders.length, 2)
    for (const release of readers) release()
    assert.deepEqual(lock.snapshot().holders, [])
  })

  it('knows the oldest waiter, of any turn', async () => {
    const mutex = new Mutex({ diagnostics })
    const release = await mutex.acquire()
    const turns = []
    for (let i = 0; i < 3; i++) {
      await nextTurn()
      const from = performance.now()
      const end = new AbortController()
      const ask = () => codeOf(mutex.acquire({ signal: end.signal }))
      turns.push({ from, end, waits: [ask(), ask()], to: performance.now() })
    }
    const isOldest = ({ from, to }) => {
      const before = performance.now()
      const { oldestWait } = mutex.snapshot()
      const slack = 0.01 // rounding of a sum
      assert.ok(performance.now() - oldestWait >= from - slack, `${oldestWait}`)
      assert.ok(before - oldestWait <= to + slack, `${oldestWait}`)
    }
    const [first, second, third] = turns
    isOldest(first)
    for (const [leaves, oldest] of [
      [second, first],
      [first, third],
    ]) {
      leaves.end.abort()
      await Promise.all(leaves.waits)
      isOldest(oldest)
    }
    release()
    third.end.abort()
    await Promise.all(third.waits)
    assert.equal(mutex.snapshot().oldestWait, undefined)
  })
})
