'use strict'
// Locks that threads or processes share, near the end of the stack: a call there either succeeds, or throws a RangeError
// and changes nothing. The same for every scope.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { within } = require('./agents.js')
const { atEachDepth, withoutTraces } = require('./stack_end.js')
const { skip } = require('./skip.js')

const { E_CANCELED } = boxoffice
const nothing = () => {}
const turn = () => new Promise(setImmediate)
const limits = { timeout: 60_000 }

/** How a call on one object of a lock is tried and undone, and how another object gets the lock. */
const mutex = { args: [], get: (lock) => lock.tryAcquire() }
const rwLock = { args: [], get: (lock) => lock.tryAcquireWrite() }
const semaphore = { args: [1], get: (lock) => lock.tryAcquire()?.[1] }
const recursive = { args: [], get: undefined }
const keyedMutex = { args: [], get: (map) => map.tryAcquire(['a', 'b']) }
const keyedRWLock = { args: [], get: (map) => map.tryAcquireWrite(['a', 'b']) }
const keyedSemaphore = { args: [1], get: (map) => map.tryAcquire(['a', 'b'])?.[1] }

const call = (release) => release()
const second = ([, release]) => release()

const classes = {
  Mutex: {
    ...mutex,
    acquires: {
      'acquire()': [(l) => l.acquire(), call],
      'acquire({ timeout })': [(l) => l.acquire(limits), call],
      'tryAcquire()': [(l) => l.tryAcquire(), call],
      'acquireSync()': [(l) => l.acquireSync(), call],
      'lock()': [(l) => l.lock(), (_, l) => l.unlock()],
      'tryLock()': [(l) => l.tryLock(), (_, l) => l.unlock()],
      'lockSync()': [(l) => l.lockSync(), (_, l) => l.unlock()],
      'runExclusive()': [(l) => l.runExclusive(nothing), nothing],
      'runExclusiveSync()': [(l) => l.runExclusiveSync(nothing), nothing],
      'waitForUnlock()': [(l) => l.waitForUnlock(), nothing],
    },
    releases: {
      'a releaser': [(l) => l.tryAcquire(), (release) => release()],
      'unlock()': [(l) => l.tryLock(), (_, l) => l.isLocked() && l.unlock()],
      'release()': [(l) => l.tryLock(), (_, l) => l.release()],
    },
    waits: { 'acquire()': [(l) => l.acquire(), call] },
  },
  RWLock: {
    ...rwLock,
    acquires: {
      'acquireRead()': [(l) => l.acquireRead(), call],
      'acquireRead({ timeout })': [(l) => l.acquireRead(limits), call],
      'acquireWrite()': [(l) => l.acquireWrite(), call],
      'acquireWrite({ timeout })': [(l) => l.acquireWrite(limits), call],
      'tryAcquireRead()': [(l) => l.tryAcquireRead(), call],
      'tryAcquireWrite()': [(l) => l.tryAcquireWrite(), call],
      'acquireReadSync()': [(l) => l.acquireReadSync(), call],
      'acquireWriteSync()': [(l) => l.acquireWriteSync(), call],
      'runSharedSync()': [(l) => l.runSharedSync(nothing), nothing],
      'runExclusiveSync()': [(l) => l.runExclusiveSync(nothing), nothing],
    },
    releases: {
      'the releaser of a reader': [(l) => l.tryAcquireRead(), (release) => release()],
      'the releaser of a writer': [(l) => l.tryAcquireWrite(), (release) => release()],
    },
    waits: {
      'acquireRead()': [(l) => l.acquireRead(), call],
      'acquireWrite()': [(l) => l.acquireWrite(), call],
    },
  },
  Semaphore: {
    ...semaphore,
    acquires: {
      'acquire()': [(l) => l.acquire(), second],
      'acquire(1, { timeout })': [(l) => l.acquire(1, limits), second],
      'tryAcquire()': [(l) => l.tryAcquire(), second],
      'acquireSync()': [(l) => l.acquireSync(), second],
      'runExclusiveSync()': [(l) => l.runExclusiveSync(nothing), nothing],
      'waitForUnlock()': [(l) => l.waitForUnlock(), nothing],
    },
    releases: {
      'a releaser': [(l) => l.tryAcquire()[1], (release) => release()],
      'release()': [(l) => l.tryAcquire(), (_, l) => l.isLocked() && l.release()],
      'setValue()': [(l) => l.setValue(0), (_, l) => l.isLocked() && l.setValue(1)],
    },
    waits: { 'acquire()': [(l) => l.acquire(), second] },
  },
  RecursiveMutex: {
    ...recursive,
    acquires: {
      'runExclusive()': [(l) => l.runExclusive(nothing), nothing],
      'runExclusiveSync()': [(l) => l.runExclusiveSync(nothing), nothing],
    },
  },
  KeyedMutex: {
    ...keyedMutex,
    acquires: {
      'acquire()': [(m) => m.acquire('a'), call],
      'acquire(key, { timeout })': [(m) => m.acquire('a', limits), call],
      'tryAcquire()': [(m) => m.tryAcquire('a'), call],
      'tryAcquire() of keys': [(m) => m.tryAcquire(['a', 'b']), call],
      'acquireSync()': [(m) => m.acquireSync('a'), call],
      'acquireSync() of keys': [(m) => m.acquireSync(['a', 'b']), call],
      'lock()': [(m) => m.lock('a'), (_, m) => m.unlock('a')],
      'tryLock()': [(m) => m.tryLock('a'), (_, m) => m.unlock('a')],
      'runExclusive()': [(m) => m.runExclusive('a', nothing), nothing],
      'runExclusiveSync()': [(m) => m.runExclusiveSync('a', nothing), nothing],
    },
    releases: {
      'a releaser': [(m) => m.tryAcquire('a'), (release) => release()],
    },
    waits: { 'acquire()': [(m) => m.acquire('a'), call] },
  },
  KeyedRWLock: {
    ...keyedRWLock,
    acquires: {
      'acquireRead()': [(m) => m.acquireRead('a'), call],
      'acquireWrite()': [(m) => m.acquireWrite('a'), call],
      'tryAcquireRead()': [(m) => m.tryAcquireRead('a'), call],
      'tryAcquireWrite() of keys': [(m) => m.tryAcquireWrite(['a', 'b']), call],
      'runExclusiveSync()': [(m) => m.runExclusiveSync('a', nothing), nothing],
    },
    releases: {
      'the releaser of a writer': [(m) => m.tryAcquireWrite('a'), (release) => release()],
    },
    waits: { 'acquireRead()': [(m) => m.acquireRead('a'), call] },
  },
  KeyedSemaphore: {
    ...keyedSemaphore,
    acquires: {
      'acquire()': [(m) => m.acquire('a'), second],
      'tryAcquire()': [(m) => m.tryAcquire('a'), second],
      'tryAcquire() of keys': [(m) => m.tryAcquire(['a', 'b']), second],
      'runExclusiveSync()': [(m) => m.runExclusiveSync('a', nothing), nothing],
    },
    releases: {
      'a releaser': [(m) => m.tryAcquire('a')[1], (release) => release()],
    },
    waits: { 'acquire()': [(m) => m.acquire('a'), second] },
  },
}

/** Callers that wait for a lock, or a key, to hold it. */
const waitsFor = {
  Mutex: (l) => l.acquire(),
  RWLock: (l) => l.acquireWrite(),
  Semaphore: async (l) => (await l.acquire())[1],
  KeyedMutex: (m) => m.acquire('a'),
  KeyedRWLock: (m) => m.acquireWrite('a'),
  KeyedSemaphore: async (m) => (await m.acquire('a'))[1],
}

/** The number of waiters for the lock, or for the keys: of this process, if processes share it. */
function waiting(lock) {
  return [lock.snapshot()].flat().reduce((sum, { waiting }) => sum + waiting, 0)
}

async function untilWaiting(lock, count) {
  while (waiting(lock) < count) await turn()
}

async function untilWaitingElsewhere(lock) {
  const isWaiting = ({ waiting, waiterPids }) => (waiterPids?.length ?? waiting) > 0
  while (![lock.snapshot()].flat().some(isWaiting)) await turn()
}

/** Keeps `promise` reachable. A waiter that was lost fails it. */
const got = (promise) => within(10_000, promise)

/** For a read-write lock: the call either changes the mode of the grant, or keeps it. */
const changes = {
  'upgrade()': [(l) => l.tryAcquireRead(), (reader) => reader.upgrade(), true],
  'tryUpgrade()': [(l) => l.tryAcquireRead(), (reader) => reader.tryUpgrade(), true],
  'upgradeSync()': [(l) => l.tryAcquireRead(), (reader) => reader.upgradeSync(), true],
  'downgrade()': [(l) => l.tryAcquireWrite(), (writer) => writer.downgrade(), false],
}

/** Waits for other things than a lock, and how to end each of them. */
const gates = {
  'AutoResetEvent, signal()': {
    kind: 'AutoResetEvent',
    wait: (event) => event.wait(),
    end: (event) => event.signal(),
    reset: (event) => assert.equal(event.isSet(), false),
  },
  'ManualResetEvent, set()': {
    kind: 'ManualResetEvent',
    wait: (event) => event.wait(),
    end: (event) => event.set(),
    reset: (event) => event.reset(),
  },
  'Barrier, wait()': {
    kind: 'Barrier',
    args: [2],
    wait: (barrier) => barrier.wait(),
    end: (barrier) => barrier.wait(),
    reset: (barrier) => assert.equal(barrier.waiting, 0),
  },
  'Barrier, break()': {
    kind: 'Barrier',
    args: [2],
    wait: (barrier) => barrier.wait().catch(nothing),
    end: (barrier) => barrier.break(),
    reset: (barrier) => barrier.reset(),
  },
}

/**
 * The tests of a scope. `open(name, args)` makes two objects for one lock of that class, and the
 * code that makes a third elsewhere. `neighbour()` runs code there, if the scope has such a place.
 */
function stackEndSuite({ open, neighbour, has = () => true }) {
  withoutTraces()
  const each = Object.entries(classes).filter(([name]) => has(name))

  for (const [name, { args, get, acquires }] of each) {
    for (const [method, [act, undo]] of Object.entries(acquires)) {
      it(`has locked nothing if it throws: ${name}, ${method}`, async () => {
        const { lock, twin } = open(name, args)
        await atEachDepth(
          nothing,
          () => act(lock),
          async (_, { value, error }) => {
            if (error === undefined) await undo(value, lock)
            assert.equal(waiting(lock), 0)
            if (get === undefined) await got(twin.runExclusive(nothing))
            else get(twin)()
          },
        )
      })
    }
  }

  for (const [name, { args, get, releases = {} }] of each) {
    for (const [method, [hold, release]] of Object.entries(releases)) {
      it(`loses no waiter if it throws: ${name}, ${method}`, async () => {
        const { lock, twin } = open(name, args)
        await atEachDepth(
          async () => {
            const value = hold(lock)
            const waiters = [waitsFor[name](lock), waitsFor[name](twin)]
            await untilWaiting(lock, 2)
            return { value, waiters }
          },
          ({ value }) => release(value, lock),
          async ({ value, waiters }, { error }) => {
            if (error !== undefined) release(value, lock)
            for (const waiter of waiters) (await got(waiter))()
            assert.equal(waiting(lock), 0)
            get(twin)()
          },
        )
      })
    }
  }

  for (const [name, { args, get, waits = {} }] of each) {
    for (const [method, [act, undo]] of Object.entries(waits)) {
      it(`leaves no waiter in the queue if it throws: ${name}, ${method}`, async () => {
        const { lock, twin } = open(name, args)
        // In an array, because the wait is awaited only after the holder has released.
        await atEachDepth(
          () => get(twin),
          () => [act(lock)],
          async (release, { value, error }) => {
            assert.equal(waiting(lock), error === undefined ? 1 : 0)
            release()
            if (error === undefined) undo(await got(value[0]), lock)
            get(twin)()
          },
        )
      })
    }
  }

  for (const [method, [hold, change, isWriter]] of Object.entries(changes)) {
    it(`leaves a releaser unchanged if it throws: RWLock, ${method}`, async () => {
      const { lock, twin } = open('RWLock', [])
      await atEachDepth(
        () => hold(lock),
        change,
        async (before, { value: after, error }) => {
          assert.equal(twin.isWriteLocked(), (error === undefined) === isWriter)
          ;(after ?? before)()
          rwLock.get(twin)()
        },
      )
    })
  }

  for (const [name, { kind, args = [], wait, end, reset }] of Object.entries(gates)) {
    if (!has(kind)) continue
    it(`loses no waiter if it throws: ${name}`, async () => {
      const { lock, twin } = open(kind, args)
      await atEachDepth(
        () => [wait(twin)],
        () => end(lock),
        async ([waiter], { error }) => {
          if (error !== undefined) end(lock)
          await got(waiter)
          reset(twin)
        },
      )
    })
  }

  it('loses neither a waiter of a condition nor the mutex if it throws', async function () {
    if (!has('ConditionVariable')) skip(this, 'this scope has no ConditionVariable')
    const { lock: mutex } = open('Mutex', [])
    const { lock: condition, twin } = open('ConditionVariable', [])
    await mutex.lock()
    // In an array, because the wait is awaited only after the notification.
    await atEachDepth(
      nothing,
      () => [condition.wait(mutex)],
      async (_, { value, error }) => {
        assert.equal(mutex.isLocked(), error !== undefined)
        if (error !== undefined) return
        twin.notifyOne()
        await got(value[0])
      },
    )
    await atEachDepth(
      () => [condition.wait(mutex)],
      () => twin.notifyAll(),
      async ([waiter], { error }) => {
        if (error !== undefined) twin.notifyAll()
        await got(waiter)
      },
    )
    mutex.unlock()
  })

  for (const [name, { args, get, releases }] of each) {
    if (releases === undefined) continue
    it(`leaves waiters in the queue, or rejects them all: ${name}, cancel()`, async () => {
      const { lock, twin } = open(name, args)
      const cancel = () => (lock.cancelAll === undefined ? lock.cancel() : lock.cancelAll())
      const reject = (promise) => promise.then(nothing, (error) => error)
      await atEachDepth(
        async () => {
          const release = get(twin)
          const waiters = [waitsFor[name](lock), waitsFor[name](lock)].map(reject)
          await untilWaiting(lock, 2)
          return { release, waiters }
        },
        cancel,
        async ({ release, waiters }, { error }) => {
          if (error !== undefined) cancel()
          for (const waiter of waiters) assert.equal(await got(waiter), E_CANCELED)
          assert.equal(waiting(lock), 0)
          release()
          get(twin)()
        },
      )
    })
  }

  for (const [name, { args, get, releases }] of each) {
    if (releases === undefined || neighbour === undefined) continue
    const [method, [hold, release]] = Object.entries(releases)[0]
    it(`loses no waiter elsewhere if it throws: ${name}, ${method}`, async () => {
      const { lock, twin, there } = open(name, args)
      const agent = neighbour()
      await agent.does(`my.lock = ${there}; my.waitsFor = ${waitsFor[name]}`)
      await atEachDepth(
        async () => {
          const value = hold(lock)
          const theirs = agent.does('(await my.waitsFor(my.lock))()')
          await untilWaitingElsewhere(lock)
          return { value, theirs }
        },
        ({ value }) => release(value, lock),
        async ({ value, theirs }, { error }) => {
          if (error !== undefined) release(value, lock)
          await got(theirs)
          get(twin)()
        },
      )
    })
  }
}

module.exports = { stackEndSuite }
