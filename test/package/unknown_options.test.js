'use strict'
// Unknown options must throw: a typing error must not be ignored silently.
const assert = require('node:assert/strict')
const { Engine } = require('boxoffice/engine')
const { inspector } = require('boxoffice/inspector')
const { etcd } = require('boxoffice/etcd')
const { postgres, postgresSchema } = require('boxoffice/postgres')
const { BoxofficeInstrumentation } = require('boxoffice/opentelemetry')
const { redis } = require('boxoffice/redis')
const { Etcd3 } = require('etcd3')
const { Pool } = require('pg')
const { createClient } = require('redis')
const boxoffice = require('../..')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex, RWLock, Semaphore } = boxoffice

/** How each object is constructed from its options. */
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

/** A driver whose methods are never called. */
const ownDriver = () => ({
  ...{ name: 'own', keeper: { module: 'keeper.js', data: {} } },
  ...{ listen() {}, enter() {}, leave() {}, end() {}, close() {} },
})

describe('an unknown option', () => {
  for (const [name, make] of Object.entries(makers)) {
    it(`is refused by the constructor of ${name}`, () =>
      fails(
        () => make({ nmae: 'orders' }),
        /^unknown option "nmae": did you mean name\? \(known: /,
      ))
  }

  it('is one that other classes have, if it would have no effect', async () => {
    const { DiningPhilosophers, LockManager } = makers
    const unknown = (option) => new RegExp(`^unknown option "${option}"`)
    await fails(
      () => DiningPhilosophers({ cancelError: new Error('mine') }),
      unknown('cancelError'),
    )
    const ofLocks = {
      cancelError: new Error('mine'),
      fairness: 'fifo',
      shared: true,
      byteOffset: 4,
    }
    for (const [option, value] of Object.entries({ ...ofLocks, allowBlockingMainThread: true }))
      await fails(() => LockManager({ [option]: value }), unknown(option))
  })

  for (const [way, wait] of Object.entries(waits)) {
    it(`is refused by ${way}`, () =>
      fails(() => wait({ timeOut: 5 }), /^unknown option "timeOut": did you mean timeout\? /))
  }

  it('leaves everything free', () => {
    for (const one of [mutex, semaphore, lock, recursive]) assert.equal(one.isLocked(), false)
    for (const map of [mutexes, semaphores, rwLocks]) assert.equal(map.size, 0)
  })

  it('is refused by engines and the inspector', async () => {
    const driver = ownDriver()
    const pool = { query() {}, Client: class {}, options: {} }
    const near = /^unknown option "maxhold": did you mean maxHold\? /
    await fails(() => new Engine(driver, { maxhold: 5000 }), near)
    await fails(() => redis({}, { maxhold: 5000 }), near)
    await fails(() => etcd({}, { maxhold: 5000 }), near)
    await fails(() => postgres(pool, { maxhold: 5000 }), near)
    await fails(() => postgresSchema({ tabel: 'mine' }), /did you mean table\?/)
    await fails(() => inspector({ host: ['a'] }), /did you mean hosts\?/)
  })

  it('is named with all known options if none is similar', async () => {
    await fails(
      () => mutex.acquire({ milliseconds: 5 }),
      'unknown option "milliseconds" (known: ifAvailable, maxPending, priority, signal, timeout)',
    )
    await fails(() => new boxoffice.Mutex({ maxWait: 5 }), /^unknown option "maxWait" \(known: /)
  })

  it('is an object of another kind, which would be taken for no options', async () => {
    const driver = ownDriver()
    const others = {
      'SharedArrayBuffer: did you mean { buffer }?': new SharedArrayBuffer(64),
      'Engine: did you mean { engine }?': new Engine(driver),
      Map: new Map([['timeout', 5]]),
      Array: [],
      Promise: Promise.resolve({}),
    }
    for (const [text, other] of Object.entries(others)) {
      for (const make of [makers.Mutex, makers.Semaphore, makers.RWLock, makers.KeyedMutex]) {
        await fails(() => make(other), `options must be an object, not ${text}`)
      }
      const [kind] = text.split(':')
      await fails(() => semaphore.acquire(other), `options must be an object, not ${kind}`)
    }
    const { signal } = new AbortController()
    const hint = 'AbortSignal: did you mean { signal }?'
    await fails(() => mutexes.acquire('a', signal), `options must be an object, not ${hint}`)
    class Options {
      get timeout() {
        return 5
      }
    }
    for (const plain of [new Options(), Object.create(null), new Proxy({}, {})]) {
      assert.equal(makers.Mutex(plain).isLocked(), false)
    }
  })

  const noCallback =
    'acquire() and tryAcquire() take no callback: use runExclusive(), runShared() or tryRunExclusive()'

  it('is a callback of acquire() or lock(), which take none', async () => {
    const acquires = Object.entries(waits).filter(([name]) =>
      /\.(acquire(Read|Write)?|lock)\b(?!Sync)/.test(name),
    )
    assert.ok(acquires.length >= 8)
    for (const [name, wait] of acquires) {
      const isManager = name.startsWith('LockManager')
      const message = isManager ? 'acquire() takes no callback: use request()' : noCallback
      await fails(() => wait(called), message)
    }
  })

  it('is an argument of a method that tries, which takes none, and holds nothing then', async () => {
    const tries = [
      (given) => mutex.tryAcquire(given),
      (given) => mutexes.tryAcquire('a', given),
      (given) => philosophers.tryBegin(0, given),
      (given) => lock.tryAcquireRead(given),
      (given) => lock.tryAcquireWrite(given),
      (given) => rwLocks.tryAcquireRead('a', given),
      (given) => rwLocks.tryAcquireWrite('a', given),
      (given) => semaphore.tryAcquire(1, given),
      (given) => semaphores.tryAcquire('a', 1, given),
    ]
    for (const one of tries) {
      await fails(() => one(called), noCallback)
      for (const limit of [{ timeout: 5 }, 5]) {
        await fails(() => one(limit), surplus)
      }
    }
    await fails(() => semaphores.tryAcquire('a', { timeout: 5 }), /^unknown option "timeout"/)
    for (const one of [mutex, lock, semaphore]) assert.equal(one.isLocked(), false)
    for (const one of [mutexes, rwLocks, semaphores]) assert.equal(one.isLocked('a'), false)
  })

  it('is an option of release(), which takes a weight only', async () => {
    await fails(() => semaphores.release('a', { timeout: 5 }), /^unknown option "timeout"/)
    await fails(() => semaphore.release({ timeout: 5 }), /^weight must be a number/)
  })

  it('is an option of tryRunExclusive() or tryRunShared(), which take none', async () => {
    const tries = [
      (given) => mutex.tryRunExclusive(called, given),
      (given) => recursive.tryRunExclusive(called, given),
      (given) => semaphore.tryRunExclusive(called, 1, given),
      (given) => lock.tryRunExclusive(called, given),
      (given) => lock.tryRunShared(called, given),
      (given) => mutexes.tryRunExclusive('a', called, given),
      (given) => semaphores.tryRunExclusive('a', called, 1, given),
      (given) => rwLocks.tryRunExclusive('a', called, given),
      (given) => philosophers.tryRunExclusive(0, called, given),
      (given) => rwLocks.tryRunShared('a', called, given),
    ]
    for (const one of tries) await fails(() => one({ timeout: 5 }), surplus)
  })

  it('is a second callback of runExclusive() or runShared(), which take one', async () => {
    const message = 'one callback only: await the returned promise'
    const locks = [mutex, semaphore, lock, recursive]
    for (const one of locks) await fails(() => one.runExclusive(called, called), message)
    await fails(() => semaphore.runExclusive(called, 1, called), message)
    const keyed = [mutexes, semaphores, rwLocks]
    for (const one of keyed) {
      await fails(() => one.runExclusive('a', called, called), message)
      await fails(() => one.runExclusive(['a', 'b'], called, called), message)
    }
    await fails(() => new KeyedMutex({ timeout: 5 }).runExclusive('a', called, called), message)
    await fails(() => philosophers.runExclusive(0, called, called), message)
    await fails(() => lock.runShared(called, called), message)
    await fails(() => rwLocks.runShared('a', called, called), message)
  })

  it('is a name, or a text for cancel(), outside of an object', async () => {
    const message = 'options must be an object, not a string: did you mean { name: "orders" }?'
    for (const Lock of [Mutex, KeyedMutex]) await fails(() => new Lock('orders'), message)
  })

  const surplus =
    'too many arguments: pass all options in one object, { priority, timeout }; methods that try take none'
  const callsWithMore = {
    'Mutex.acquire': (...more) => mutex.acquire(...more),
    'Mutex.lock': (...more) => mutex.lock(...more),
    'Mutex.runExclusive': (...more) => mutex.runExclusive(called, ...more),
    'Mutex.executeLocked': (...more) => mutex.executeLocked(called, ...more),
    'RWLock.acquireRead': (...more) => lock.acquireRead(...more),
    'RWLock.acquireWrite': (...more) => lock.acquireWrite(...more),
    'RWLock.runShared': (...more) => lock.runShared(called, ...more),
    'RWLock.runExclusive': (...more) => lock.runExclusive(called, ...more),
    'RecursiveMutex.runExclusive': (...more) => recursive.runExclusive(called, ...more),
    'RecursiveMutex.executeLocked': (...more) => recursive.executeLocked(called, ...more),
    'Semaphore.acquire': (...more) => semaphore.acquire(1, ...more),
    'Semaphore.runExclusive': (...more) => semaphore.runExclusive(called, 1, ...more),
    'Semaphore.executeLocked': (...more) => semaphore.executeLocked(called, 1, ...more),
    'KeyedMutex.acquire': (...more) => mutexes.acquire('a', ...more),
    'KeyedMutex.lock': (...more) => mutexes.lock('a', ...more),
    'KeyedMutex.runExclusive': (...more) => mutexes.runExclusive('a', called, ...more),
    'KeyedMutex.executeLocked': (...more) => mutexes.executeLocked('a', called, ...more),
    'KeyedRWLock.acquireRead': (...more) => rwLocks.acquireRead('a', ...more),
    'KeyedRWLock.acquireWrite': (...more) => rwLocks.acquireWrite('a', ...more),
    'KeyedRWLock.runShared': (...more) => rwLocks.runShared('a', called, ...more),
    'KeyedRWLock.runExclusive': (...more) => rwLocks.runExclusive('a', called, ...more),
    'KeyedSemaphore.acquire': (...more) => semaphores.acquire('a', 1, ...more),
    'KeyedSemaphore.runExclusive': (...more) => semaphores.runExclusive('a', called, 1, ...more),
    'KeyedSemaphore.executeLocked': (...more) => semaphores.executeLocked('a', called, 1, ...more),
  }
  for (const [name, call] of Object.entries(callsWithMore)) {
    it(`is an argument after all others: ${name}`, async () => {
      await fails(() => call({ timeout: 5 }, { timeout: 5 }), surplus)
      await fails(() => call(1, { timeout: 5 }), surplus)
    })
  }

  it('is a callback after the options', async () => {
    const message = 'callback must come before the options'
    await fails(() => mutex.runExclusive({ timeout: 5 }, called), message)
    await fails(() => mutexes.runExclusive('a', { timeout: 5 }, called), message)
    await fails(() => lock.runShared({ timeout: 5 }, called), message)
  })

  it('is refused if it is inherited, and if it belongs to another method', async () => {
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
    it(`throws: ${method} of a ${map.constructor.name}`, async () => {
      const message = 'the key is missing: a keyed lock takes (key, callback)'
      await fails(() => map[method](called), message)
      await fails(() => map[method](called, { timeout: 5 }), message)
      await fails(() => map[method]('a'), 'callback must be a function, not undefined')
    })
  }
})

describe('an option that is undefined', () => {
  const all = (...names) => Object.fromEntries(names.map((name) => [name, undefined]))
  const times = ['ttl', 'maxHold', 'answerTimeout']

  it('counts as left out by engines', async () => {
    const driver = ownDriver()
    const client = new Etcd3({ hosts: 'http://127.0.0.1:1' })
    const engines = [
      new Engine(driver, all(...times)),
      redis(createClient(), all(...times, 'prefix', 'shards', 'connection')),
      etcd(client, all(...times, 'prefix', 'connection')),
      postgres(new Pool(), all(...times, 'schema', 'table', 'connection', 'connections')),
    ]
    await Promise.all(engines.map((engine) => engine.close()))
    client.close()
  })

  it('counts as left out by a LockManager, the inspector and the instrumentation', async () => {
    const names = ['mode', 'ifAvailable', 'steal', 'signal', 'priority', 'timeout', 'scope']
    const manager = new boxoffice.LockManager(all('name', 'engine', 'scope'))
    assert.equal(
      await manager.request('undefined', all(...names), (lock) => lock.mode),
      'exclusive',
    )
    const release = await manager.acquire('undefined', all(...names))
    release()
    assert.equal(typeof inspector(all('hosts', 'allowRemote')), 'function')
    new BoxofficeInstrumentation(all('enabled', 'waitThreshold')).disable()
  })
})
