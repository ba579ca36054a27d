'use strict'
// Options that no reader knows: a typo must not be ignored without a word.
const assert = require('node:assert/strict')
const { Engine } = require('boxoffice/engine')
const { inspector } = require('boxoffice/inspector')
const { postgres, postgresSchema } = require('boxoffice/postgres')
const { redis } = require('boxoffice/redis')
const boxoffice = require('../..')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex, RWLock, Semaphore } = boxoffice

/** How each object is made of its options. */
const makers = {
  AutoResetEvent: (options) => new boxoffice.AutoResetEvent(options),
  Barrier: (options) => new boxoffice.Barrier(2, options),
  ConditionVariable: (options) => new boxoffice.ConditionVariable(options),
  CountdownLatch: (options) => new boxoffice.CountdownLatch(1, options),
  DiningPhilosophers: (options) => new boxoffice.DiningPhilosophers(3, options),
  KeyedMutex: (options) => new KeyedMutex(options),
  KeyedRWLock: (options) => new KeyedRWLock(options),
  KeyedSemaphore: (options) => new KeyedSemaphore(1, options),
  LeaderElection: (options) =>
    new boxoffice.LeaderElection({ scope: 'process', name: 'unknown options', ...options }),
  LockManager: (options) => new boxoffice.LockManager(options),
  ManualResetEvent: (options) => new boxoffice.ManualResetEvent(options),
  Mutex: (options) => new Mutex(options),
  RecursiveMutex: (options) => new boxoffice.RecursiveMutex(options),
  RWLock: (options) => new RWLock(options),
  Semaphore: (options) => new Semaphore(1, options),
}

const called = () => assert.fail('called back')
const blocking = { allowBlockingMainThread: true }
const mutex = new Mutex(blocking)
const semaphore = new Semaphore(1, blocking)
const lock = new RWLock(blocking)
const recursive = new boxoffice.RecursiveMutex(blocking)
const mutexes = new KeyedMutex(blocking)
const semaphores = new KeyedSemaphore(1, blocking)
const rwLocks = new KeyedRWLock(blocking)
const event = new boxoffice.AutoResetEvent(blocking)
const barrier = new boxoffice.Barrier(2, blocking)
const philosophers = new boxoffice.DiningPhilosophers(3, blocking)

/** Each way of waiting, with options. */
const waits = {
  'Mutex.acquire': (options) => mutex.acquire(options),
  'Mutex.acquireSync': (options) => mutex.acquireSync(options),
  'Mutex.lock': (options) => mutex.lock(options),
  'Mutex.lockSync': (options) => mutex.lockSync(options),
  'Mutex.runExclusive': (options) => mutex.runExclusive(called, options),
  'Mutex.runExclusiveSync': (options) => mutex.runExclusiveSync(called, options),
  'Mutex.waitForUnlock': (options) => mutex.waitForUnlock(options),
  'Semaphore.acquire': (options) => semaphore.acquire(options),
  'Semaphore.acquire of a weight': (options) => semaphore.acquire(1, options),
  'Semaphore.acquireSync': (options) => semaphore.acquireSync(options),
  'Semaphore.acquireSync of a weight': (options) => semaphore.acquireSync(1, options),
  'Semaphore.runExclusive': (options) => semaphore.runExclusive(called, options),
  'Semaphore.waitForUnlock': (options) => semaphore.waitForUnlock(options),
  'RWLock.acquireRead': (options) => lock.acquireRead(options),
  'RWLock.acquireReadSync': (options) => lock.acquireReadSync(options),
  'RWLock.acquireWrite': (options) => lock.acquireWrite(options),
  'RWLock.runShared': (options) => lock.runShared(called, options),
  'RecursiveMutex.runExclusive': (options) => recursive.runExclusive(called, options),
  'RecursiveMutex.runExclusiveSync': (options) => recursive.runExclusiveSync(called, options),
  'KeyedMutex.acquire': (options) => mutexes.acquire('a', options),
  'KeyedMutex.acquire of several': (options) => mutexes.acquire(['a', 'b'], options),
  'KeyedMutex.acquireSync of several': (options) => mutexes.acquireSync(['a', 'b'], options),
  'KeyedMutex.runExclusive': (options) => mutexes.runExclusive('a', called, options),
  'KeyedSemaphore.acquire': (options) => semaphores.acquire('a', options),
  'KeyedSemaphore.acquire of several': (options) => semaphores.acquire(['a', 'b'], 1, options),
  'KeyedRWLock.acquireRead': (options) => rwLocks.acquireRead('a', options),
  'KeyedRWLock.acquireWrite of several': (options) => rwLocks.acquireWrite(['a', 'b'], options),
  'AutoResetEvent.wait': (options) => event.wait(options),
  'AutoResetEvent.waitSync': (options) => event.waitSync(options),
  'Barrier.wait': (options) => barrier.wait(options),
  'DiningPhilosophers.begin': (options) => philosophers.begin(0, options),
  'LockManager.acquire': (options) => boxoffice.locks.acquire('a', options),
  'withTimeout of a Mutex': (options) => boxoffice.withTimeout(mutex, 50).acquire(options),
  'withTimeout of a Semaphore': (options) => boxoffice.withTimeout(semaphore, 50).acquire(options),
}

const fails = async (call, message) =>
  assert.rejects(async () => call(), { name: 'TypeError', message })

describe('an unknown option', () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`is refused by the constructor of ${name}`, () =>
      fails(
        () => make({ nmae: 'orders' }),
        /^unknown option "nmae": did you mean name\? \(known: /,
      ))
  }

  for (const [way, wait] of Object.entries(waits)) {
    it(`is refused by ${way}`, () =>
      fails(() => wait({ timeOut: 5 }), /^unknown option "timeOut": did you mean timeout\? /))
  }

  it('leaves everything free', () => {
    for (const one of [mutex, semaphore, lock, recursive]) assert.equal(one.isLocked(), false)
    for (const map of [mutexes, semaphores, rwLocks]) assert.equal(map.size, 0)
  })

  it('is refused by engines and the inspector', async () => {
    const driver = { listen() {}, enter() {}, leave() {}, end() {}, close() {} }
    const pool = { query() {}, Client: class {}, options: {} }
    const near = /^unknown option "maxhold": did you mean maxHold\? /
    await fails(() => new Engine(driver, { maxhold: 5000 }), near)
    await fails(() => redis({}, { maxhold: 5000 }), near)
    await fails(() => postgres(pool, { maxhold: 5000 }), near)
    await fails(() => postgresSchema({ tabel: 'mine' }), /did you mean table\?/)
    await fails(() => inspector({ host: ['a'] }), /did you mean hosts\?/)
  })

  it('is named with all there are where none is like it', () =>
    fails(
      () => mutex.acquire({ milliseconds: 5 }),
      'unknown option "milliseconds" (known: ifAvailable, maxPending, priority, signal, timeout)',
    ))

  it('is refused where it is inherited, and when it belongs to another method', async () => {
    await fails(() => mutex.acquire(Object.create({ timeOut: 5 })), /"timeOut"/)
    await fails(() => mutex.acquire({ weight: 2 }), /"weight"/)
    await fails(() => new boxoffice.Barrier(2, { timeout: 50 }), /"timeout"/)
    await fails(() => new Mutex({ isSet: true }), /"isSet"/)
  })

  it('is ignored by request(), as the Web Locks standard has it', async () => {
    assert.equal(await boxoffice.locks.request('a', { later: true }, () => 'in'), 'in')
  })
})

describe('a keyed lock that is called without a key', () => {
  for (const [method, map] of [
    ['runExclusive', mutexes],
    ['executeLocked', mutexes],
    ['runExclusiveSync', mutexes],
    ['runExclusive', semaphores],
    ['runExclusiveSync', semaphores],
    ['runShared', rwLocks],
    ['runExclusive', rwLocks],
    ['runSharedSync', rwLocks],
  ]) {
    it(`says so: ${method} of a ${map.constructor.name}`, async () => {
      const message = 'the key is missing: a keyed lock takes (key, callback)'
      await fails(() => map[method](called), message)
      await fails(() => map[method](called, { timeout: 5 }), message)
      await fails(() => map[method]('a'), 'callback must be a function')
    })
  }
})
