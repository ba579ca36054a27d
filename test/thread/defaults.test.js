'use strict'
// A constructor's defaults for all waits: timeout and maxPending.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { freshName } = require('../helpers/agents.js')
const { scopes } = require('../helpers/scopes.js')

const {
  DiningPhilosophers,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
} = boxoffice
const fail = () => assert.fail('it was called')
/** An engine needs some time for its answer. */
const soon = { timeout: 10_000 }
const releaserOf = ([, release]) => release

/**
 * Each is { hold, waits } for a lock with `options`: hold() resolves to the function that releases;
 * the waits are for the held lock.
 */
const kinds = {
  Mutex: (options) => {
    const mutex = new Mutex(options)
    return {
      hold: () => mutex.acquire(soon),
      waits: {
        acquire: (limits) => mutex.acquire(limits),
        runExclusive: (limits) => mutex.runExclusive(fail, limits),
        executeLocked: (limits) => mutex.executeLocked(fail, limits),
        lock: (limits) => mutex.lock(limits),
      },
      others: { waitForUnlock: (limits) => mutex.waitForUnlock(limits) },
    }
  },
  RecursiveMutex: (options) => {
    const mutex = new RecursiveMutex(options)
    const hold = () =>
      new Promise((held) => {
        mutex.runExclusive(() => new Promise((release) => held(release)), soon)
      })
    return { hold, waits: { runExclusive: (limits) => mutex.runExclusive(fail, limits) } }
  },
  Semaphore: (options) => {
    const semaphore = new Semaphore(2, options)
    return {
      hold: () => semaphore.acquire(2, soon).then(releaserOf),
      waits: {
        acquire: (limits) => semaphore.acquire(undefined, limits),
        'acquire of a weight': (limits) => semaphore.acquire(2, limits),
        'acquire of an object': (limits) =>
          semaphore.acquire({ weight: 2, ...(typeof limits === 'object' ? limits : undefined) }),
        runExclusive: (limits) => semaphore.runExclusive(fail, 1, limits),
      },
      others: { waitForUnlock: (limits) => semaphore.waitForUnlock(2, limits) },
    }
  },
  RWLock: (options) => {
    const lock = new RWLock(options)
    return {
      hold: () => lock.acquireWrite(soon),
      waits: {
        acquireRead: (limits) => lock.acquireRead(limits),
        acquireWrite: (limits) => lock.acquireWrite(limits),
        runShared: (limits) => lock.runShared(fail, limits),
        runExclusive: (limits) => lock.runExclusive(fail, limits),
      },
    }
  },
  KeyedMutex: (options) => {
    const locks = new KeyedMutex(options)
    return {
      hold: () => locks.acquire('a', soon),
      waits: {
        acquire: (limits) => locks.acquire('a', limits),
        'acquire of several': (limits) => locks.acquire(['b', 'a'], limits),
        runExclusive: (limits) => locks.runExclusive('a', fail, limits),
        lock: (limits) => locks.lock('a', limits),
      },
      others: { waitForUnlock: (limits) => locks.waitForUnlock('a', limits) },
    }
  },
  KeyedSemaphore: (options) => {
    const locks = new KeyedSemaphore(2, options)
    return {
      hold: () => locks.acquire('a', 2, soon).then(releaserOf),
      waits: {
        acquire: (limits) => locks.acquire('a', 1, limits),
        'acquire of several': (limits) => locks.acquire(['a', 'b'], undefined, limits),
        runExclusive: (limits) => locks.runExclusive('a', fail, 2, limits),
      },
      others: { waitForUnlock: (limits) => locks.waitForUnlock('a', 1, limits) },
    }
  },
  KeyedRWLock: (options) => {
    const locks = new KeyedRWLock(options)
    return {
      hold: () => locks.acquireWrite('a', soon),
      waits: {
        acquireRead: (limits) => locks.acquireRead('a', limits),
        runExclusive: (limits) => locks.runExclusive(['a', 'b'], fail, limits),
      },
    }
  },
  DiningPhilosophers: (options) => {
    const table = new DiningPhilosophers(3, options)
    return {
      hold: async () => table.tryBegin(0),
      waits: {
        begin: (limits) => table.begin(0, limits),
        'begin of a neighbour': (limits) => table.begin(1, limits),
        runExclusive: (limits) => table.runExclusive(2, fail, limits),
      },
    }
  },
}

const late = { code: 'ERR_LOCK_TIMEOUT' }
const full = { code: 'ERR_LOCK_QUEUE_FULL' }

for (const [scope, use] of Object.entries(scopes)) {
  for (const [kind, make] of Object.entries(kinds)) {
    if (kind === 'DiningPhilosophers' && scope !== 'thread' && scope !== 'process') continue
    describe(`the constructor of a ${kind} in the scope ${scope}`, () => {
      const optionsOf = use()

      it('sets the timeout of each wait, which may override it', async () => {
        const { hold, waits, others = {} } = make({ ...(await optionsOf()), timeout: 3 })
        const release = await hold()
        for (const wait of Object.values({ ...waits, ...others })) {
          await assert.rejects(wait(), late)
          const takesNumber = !kind.startsWith('Keyed')
          await assert.rejects(async () => wait(1), takesNumber ? late : TypeError)
          await assert.rejects(wait({ priority: 1 }), late)
          await assert.rejects(wait({ timeout: 1e6, signal: AbortSignal.timeout(1) }), {
            name: 'TimeoutError',
          })
        }
        release()
      })

      it('limits how many callers may wait, which each may override', async () => {
        const { hold, waits } = make({ ...(await optionsOf()), maxPending: 1 })
        const release = await hold()
        const controller = new AbortController()
        const { signal } = controller
        for (const wait of Object.values(waits)) {
          const first = wait({ signal })
          await assert.rejects(wait(), full)
          await assert.rejects(wait({ timeout: 1000 }), full)
          await assert.rejects(wait({ maxPending: 0 }), full)
          await assert.rejects(wait({ maxPending: 2, timeout: 1 }), late)
          await assert.rejects(wait({ maxPending: Infinity, timeout: 1 }), late)
          controller.abort()
          await assert.rejects(first, { name: 'AbortError' })
          break
        }
        for (const wait of Object.values(waits)) await assert.rejects(wait({ maxPending: 0 }), full)
        release()
      })
    })
  }

  describe(`a lock with maxPending 0 in the scope ${scope}`, () => {
    const optionsOf = use()

    it('is granted if it is free, and leaves nothing behind if it is not', async () => {
      const mutex = new Mutex({ ...(await optionsOf()), maxPending: 0 })
      const release = await mutex.acquire()
      await assert.rejects(mutex.acquire(), {
        ...full,
        message: /^the queue of .* is full: maxPending is 0; try again later$/,
      })
      assert.equal(mutex.snapshot().waiting, 0)
      release()
      await mutex.runExclusive(() => {})
      assert.equal(mutex.isLocked(), false)
    })
  })
}

describe('timeout and maxPending of a constructor', () => {
  it('are checked', () => {
    const wrong = [
      [{ timeout: -1 }, RangeError],
      [{ timeout: '5' }, TypeError],
      [{ maxPending: -1 }, RangeError],
      [{ maxPending: 1.5 }, RangeError],
      [{ maxPending: Number.NaN }, RangeError],
      [{ maxPending: '5' }, TypeError],
    ]
    for (const [options, name] of wrong) {
      for (const make of Object.values(kinds)) assert.throws(() => make(options), name)
    }
    assert.throws(() => new Mutex().acquire({ maxPending: -1 }), RangeError)
  })

  it('are not options of classes without such waits', () => {
    for (const make of [
      (options) => new boxoffice.AutoResetEvent(options),
      (options) => new boxoffice.Barrier(2, options),
      (options) => new boxoffice.LockManager(options),
    ]) {
      assert.throws(() => make({ timeout: 5 }), /unknown option "timeout"/)
      assert.throws(() => make({ maxPending: 5 }), /unknown option "maxPending"/)
    }
    assert.throws(() => new Mutex().waitForUnlock({ maxPending: 5 }), /unknown option "maxPending"/)
  })

  it('limits how long a thread blocks', () => {
    const options = { name: freshName(), timeout: 1, allowBlockingMainThread: true }
    const semaphore = new Semaphore(1, options)
    const [, release] = semaphore.acquireSync()
    assert.throws(() => semaphore.acquireSync(), late)
    assert.throws(() => semaphore.runExclusiveSync(fail, 1), late)
    release()
    assert.equal(
      semaphore.runExclusiveSync((value) => value),
      1,
    )
  })

  it('lets no lone number pass that a blocking call refuses', () => {
    const refused = { name: 'TypeError', message: /^options must be an object; for a timeout/ }
    for (const defaults of [{}, { timeout: 1000 }]) {
      const options = { ...defaults, allowBlockingMainThread: true }
      assert.throws(() => new Mutex(options).lockSync(5), refused)
      assert.throws(() => new Semaphore(1, options).acquireSync(1, 5), refused)
      assert.throws(() => new KeyedMutex(options).lockSync('a', 5), refused)
    }
  })

  it('does not affect other objects of that name', async () => {
    const name = freshName()
    const [limited, other] = [new Mutex({ name, timeout: 1, maxPending: 0 }), new Mutex({ name })]
    const release = await other.acquire()
    const waiting = other.acquire()
    await assert.rejects(limited.acquire(), full)
    release()
    ;(await waiting)()
  })

  it('counts the waiters of each key separately', async () => {
    const locks = new KeyedMutex({ maxPending: 1 })
    const releases = [await locks.acquire('a'), await locks.acquire('b')]
    const waiting = [locks.acquire('a'), locks.acquire('b')]
    await assert.rejects(locks.acquire('a'), { ...full, message: /key "a"/ })
    for (const release of releases) release()
    for (const wait of waiting) (await wait)()
  })

  it('replaces options left undefined in a frozen object', async () => {
    const limits = Object.freeze({ timeout: undefined, priority: 1 })
    const release = await new Mutex({ timeout: 1000 }).acquire(limits)
    release()
    const [, giveBack] = await new Semaphore(1, { timeout: 1000 }).acquire(1, limits)
    giveBack()
  })

  it('stands for what options leave out that are an instance of a class', async () => {
    class Limits {
      #priority = 1
      get priority() {
        return this.#priority
      }
    }
    const limits = new Limits()
    const release = await new Mutex({ timeout: 1000 }).acquire(limits)
    release()
    const semaphore = new Semaphore(2, { timeout: 1000 })
    const [, giveBack] = await semaphore.acquire(2, limits)
    const order = []
    const waiting = [undefined, limits].map((options, i) =>
      semaphore.runExclusive(() => order.push(i), 2, options),
    )
    giveBack()
    await Promise.all(waiting)
    assert.deepEqual(order, [1, 0])
    const busy = new Mutex({ timeout: 1 })
    await busy.acquire()
    await assert.rejects(busy.acquire(limits), late)
  })

  it('hides no object of another kind', async () => {
    const kind = { name: 'TypeError', message: 'options must be an object, not Map' }
    for (const defaults of [{}, { timeout: 1000 }]) {
      const mutex = new Mutex(defaults)
      assert.throws(() => mutex.acquire(new Map()), kind)
      await assert.rejects(mutex.runExclusive(assert.fail, new Map()), kind)
      assert.equal(mutex.isLocked(), false)
      const release = await mutex.acquire({})
      release()
    }
  })

  it('hides no weight beside a weight', async () => {
    const unknown = { name: 'TypeError', message: /unknown option "weight"/ }
    for (const defaults of [{}, { timeout: 1000 }]) {
      const semaphore = new Semaphore(3, defaults)
      assert.throws(() => semaphore.acquire(1, { weight: 2 }), unknown)
      assert.throws(() => semaphore.waitForUnlock(1, { weight: 2 }), unknown)
      await assert.rejects(
        semaphore.runExclusive(() => {}, 1, { weight: 2 }),
        unknown,
      )
      assert.equal(semaphore.getValue(), 3)
    }
  })

  it('counts no waiter that does not want the lock, in whatever scope', async () => {
    for (const options of [{}, { name: freshName() }]) {
      for (const lock of [new Mutex({ ...options, maxPending: 1 })]) {
        const release = await lock.acquire()
        const passed = lock.waitForUnlock()
        const next = lock.acquire()
        await assert.rejects(lock.acquire(), full)
        release()
        const giveBack = await next
        giveBack()
        await passed
      }
    }
  })

  it('reads each option once', async () => {
    const reads = []
    const limits = {
      get priority() {
        reads.push('priority')
        return 0
      },
      get timeout() {
        reads.push('timeout')
        return undefined
      },
    }
    const release = await new Mutex({ timeout: 1000 }).acquire(limits)
    release()
    assert.deepEqual(reads, ['priority', 'timeout'])
  })
})
