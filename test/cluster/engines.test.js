'use strict'
// The part common to all engines, with a server in memory: lib/cluster.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const {
  E_TIMEOUT,
  ConditionVariable,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LockManager,
  Mutex,
  RWLock,
  Semaphore,
} = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { timedWorld } = require('./helpers/fake_world.js')

describe('Locks over an engine', () => {
  const world = timedWorld()
  const { newEngine, count } = world

  it('borrow once for all waiters of this thread, and give back once', async () => {
    const mutex = new KeyedMutex({ engine: await newEngine() })
    const order = []
    const all = Array.from({ length: 500 }, (_, i) =>
      mutex.runExclusive('key', () => order.push(i)),
    )
    await Promise.all(all)
    await world.clock.settle()
    assert.deepEqual(world.server.commands, ['enter', 'leave'])
    assert.deepEqual(order, [...Array(500).keys()])
    assert.equal(mutex.size, 0)
  })

  it('give each holder its own token, and tokens increase', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'a' })
    let last = 0n
    const take = async () => {
      const release = await mutex.acquire()
      assert.ok(release.fencingToken > last)
      last = release.fencingToken
      release()
    }
    // More than one lease has room for.
    await Promise.all(Array.from({ length: 5000 }, take))
    assert.equal(count('enter'), 2)
  })

  it("keep strict order with fairness: 'fifo'", async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const a = new KeyedMutex({ engine: one, fairness: 'fifo' })
    const b = new KeyedMutex({ engine: two, fairness: 'fifo' })
    const order = []
    const take = (mutex, who) => mutex.runExclusive('key', () => order.push(who))
    const first = await a.acquire('key')
    const ours = [take(a, 'a'), take(a, 'a')]
    const other = take(b, 'b')
    await world.queued()
    first()
    await Promise.all([...ours, other])
    assert.deepEqual(order, ['b', 'a', 'a'])
  })

  it('say where to look for a holder that is not of this thread', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    for (const options of [{}, { diagnostics: true }]) {
      const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine, name: 'a', ...options }))
      const release = await a.acquire('key')
      const late = assert.rejects(b.acquire('key', { timeout: 20 }), {
        code: 'ERR_LOCK_TIMEOUT',
        message:
          'the mutex of key "key" in "a" was not available within 20 ms; another caller has it, perhaps in another process: docs/operations.md shows how to see which',
      })
      await world.clock.until(late)
      release()
    }
  })

  it('reject with the reason of an aborted signal, though that has the code of a timeout', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'a' })
    const signal = AbortSignal.abort(E_TIMEOUT)
    for (const limits of [{ ifAvailable: true }, { maxPending: 0 }, { timeout: 0 }])
      await assert.rejects(mutex.acquire({ ...limits, signal }), (error) => error === E_TIMEOUT)
  })

  it('say that the minHold of a released grant may not be over', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'a', minHold: 1000 })
    const release = await mutex.acquire()
    release()
    await mutex.onIdle()
    const late = assert.rejects(mutex.acquire({ timeout: 20 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: /has it, perhaps in another process, or the minHold of its last grant is not over: /,
    })
    await world.clock.until(late)
  })

  it('say that a caller of this thread has lost the lock, and has not released it', async () => {
    const mutex = new Mutex({ engine: await newEngine({ ttl: 1000, maxHold: 2000 }), name: 'a' })
    const release = await mutex.acquire()
    await world.clock.until(once(release.signal, 'abort'))
    const late = assert.rejects(mutex.acquire({ timeout: 20 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message:
        'the mutex "a" was not available within 20 ms; a caller of this thread has not released it, though it has lost it: end its work when its signal aborts',
    })
    await world.clock.until(late)
    release()
  })

  it('make a low priority wait here, and forget a waiter that gives up', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'a' })
    const first = await mutex.acquire()
    const order = []
    const low = mutex.runExclusive(() => order.push('low'), -1)
    const late = assert.rejects(mutex.acquire({ timeout: 20 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message:
        'the mutex "a" was not available within 20 ms; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it',
    })
    const high = mutex.runExclusive(() => order.push('high'), 1)
    await world.clock.until(late)
    first()
    await Promise.all([low, high])
    assert.deepEqual(order, ['high', 'low'])
    assert.equal(mutex.isLocked(), false)
  })

  it('give the place of a waiter that gives up to the next waiter of this thread', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const release = await a.acquire('key')
    const late = assert.rejects(b.acquire('key', { timeout: 30 }), { code: 'ERR_LOCK_TIMEOUT' })
    const next = b.acquire('key')
    await world.queued()
    await world.clock.until(late)
    await world.queued()
    world.server.commands = []
    release()
    ;(await next)()
    assert.deepEqual([count('confirm'), count('enter')], [1, 0])
  })

  it('cancel waiters here and at the server', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const release = await a.acquire('key')
    const waiting = [b.acquire('key'), b.acquire('key')]
    await world.queued()
    assert.deepEqual(b.snapshot(), [{ key: 'key', locked: false, waiting: 2 }])
    b.cancel('key', new Error('enough'))
    for (const one of waiting) await assert.rejects(one, { message: 'enough' })
    release()
    ;(await a.acquire('key'))()
    assert.equal(b.size, 0)
  })

  it('leave callers of waitForUnlock alone when they cancel, and count them as no waiters', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const kinds = [
      (engine) => new Mutex({ engine, name: 'a', maxPending: 0 }),
      (engine) => new Semaphore(1, { engine, name: 'a', maxPending: 0 }),
      (engine) => new KeyedMutex({ engine, maxPending: 0 }),
      (engine) => new KeyedSemaphore(1, { engine, maxPending: 0 }),
    ]
    for (const make of kinds) {
      const [a, b] = [make(one), make(two)]
      const [key, cancel] =
        a instanceof KeyedMutex || a instanceof KeyedSemaphore
          ? [['key'], () => b.cancel('key', new Error('enough'))]
          : [[], () => b.cancel(new Error('enough'))]
      const given = await a.acquire(...key)
      const release = given[1] ?? given
      // One waits at the server, one here.
      const seen = [b.waitForUnlock(...key), b.waitForUnlock(...key)]
      await world.queued()
      await assert.rejects(b.acquire(...key), { code: 'ERR_LOCK_QUEUE_FULL' })
      const acquired = b.acquire(...key, ...(given[1] ? [1] : []), { maxPending: 1 })
      const isCancelled = assert.rejects(acquired, { message: 'enough' })
      cancel()
      await isCancelled
      // A single lock has no caller that acquires it.
      if (key.length === 0) await b.onIdle()
      release()
      await Promise.all(seen)
      await a.onIdle()
    }
  })

  it('let maxPending callers wait besides the first, though all of them call at once', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const kinds = [
      [(engine) => new Semaphore(100, { engine, name: 'a' }), 100],
      [(engine) => new KeyedSemaphore(100, { engine }), 'key', 100],
      [(engine) => new RWLock({ engine, name: 'a' })],
      [(engine) => new Mutex({ engine, name: 'a' })],
    ]
    for (const [make, ...all] of kinds) {
      const [a, b] = [make(one), make(two)]
      const acquire = (b.acquireRead ?? b.acquire).bind(b)
      const given = await (a.acquireWrite ?? a.acquire).bind(a)(...all)
      const key = all[0] === 'key' ? ['key'] : []
      const codes = Array.from({ length: 10 }, async () => {
        try {
          ;(await acquire(...key, { maxPending: 2 })).release()
        } catch ({ code }) {
          return code
        }
      })
      await world.clock.settle()
      given.release()
      assert.deepEqual(await Promise.all(codes), [
        ...Array(3),
        ...Array(7).fill('ERR_LOCK_QUEUE_FULL'),
      ])
    }
  })

  it('do not count callers that wait for the server among the holders of this thread', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const semaphores = [one, two].map((engine) => new Semaphore(3, { engine, name: 'a' }))
    const keyed = [one, two].map((engine) => new KeyedSemaphore(3, { engine }))
    const [a, b] = [one, two].map((engine) => new RWLock({ engine, name: 'a' }))
    const seen = () => [
      [semaphores[1].getValue(), semaphores[1].isLocked(), semaphores[1].snapshot().waiting],
      [keyed[1].getValue('key'), keyed[1].isLocked('key'), keyed[1].snapshot()],
      [b.readers, b.isLocked(), b.isWriteLocked(), b.snapshot()],
    ]
    const given = [await semaphores[0].acquire(3), await keyed[0].acquire('key', 3)]
    let writer = await a.acquireWrite()
    const waits = [semaphores[1].acquire(3), keyed[1].acquire('key', 3), b.acquireRead()]
    await world.queued(3)
    assert.deepEqual(seen(), [
      [3, false, 1],
      [3, false, [{ key: 'key', value: 3, waiting: 1 }]],
      [0, false, false, { readers: 0, written: false, waiting: 1 }],
    ])
    const { code } = await semaphores[1].acquire({ timeout: 0 }).catch((error) => error)
    assert.equal(code, 'ERR_LOCK_TIMEOUT')
    assert.throws(() => keyed[1].release('key', 3), { code: 'ERR_LOCK_RANGE' })
    for (const one of [...given, writer]) one.release()
    const held = await Promise.all(waits)
    assert.deepEqual(seen(), [
      [0, true, 0],
      [0, true, [{ key: 'key', value: 0, waiting: 0 }]],
      [1, true, false, { readers: 1, written: false, waiting: 0 }],
    ])
    semaphores[1].release(2)
    keyed[1].release('key', 2)
    const other = await a.acquireRead()
    const upgraded = held[2].upgrade()
    await world.queued()
    assert.deepEqual([b.readers, b.isWriteLocked()], [1, false])
    other.release()
    writer = await upgraded
    assert.deepEqual([b.readers, b.isWriteLocked()], [0, true])
    assert.deepEqual([semaphores[1].getValue(), keyed[1].getValue('key')], [2, 2])
    held[2] = writer.downgrade()
    assert.deepEqual([b.readers, b.isWriteLocked()], [1, false])
    for (const one of held) one.release()
    assert.deepEqual(
      [semaphores[1].getValue(), keyed[1].getValue('key'), b.isLocked()],
      [3, 3, false],
    )
  })

  it('have the bare pair, and the other forms', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'a' })
    await mutex.lock()
    const next = mutex.waitForUnlock()
    assert.equal(mutex.isLocked(), true)
    mutex.unlock()
    assert.throws(() => mutex.unlock(), { code: 'ERR_LOCK_NOT_HELD' })
    await next
    const stale = await mutex.acquire()
    mutex.release()
    const release = await mutex.acquire()
    stale()
    assert.equal(mutex.isLocked(), true)
    release()
    assert.equal(await mutex.runExclusive(async () => 'done'), 'done')
    await assert.rejects(
      mutex.runExclusive(() => {
        throw new Error('thrown')
      }),
      { message: 'thrown' },
    )
    assert.equal(mutex.isLocked(), false)
  })

  it('are one lock for all objects of a name', async () => {
    const engine = await newEngine()
    const [a, b] = [new Mutex({ engine, name: 'a' }), new Mutex({ engine, name: 'a' })]
    const release = await a.acquire()
    await assert.rejects(b.acquire({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    release()
    await b.runExclusive(() => assert.equal(a.isLocked(), true))
  })

  it('lock several keys at once', async () => {
    const engine = await newEngine()
    const mutex = new KeyedMutex({ engine })
    const release = await mutex.acquire(['b', 'a'])
    const late = mutex.acquire(['c', 'a'], { timeout: 20 })
    await assert.rejects(world.clock.until(late), { code: 'ERR_LOCK_TIMEOUT' })
    assert.deepEqual([...mutex.keys()].sort(), ['a', 'b'])
    await assert.rejects(mutex.acquire(['c', 'a'], { timeout: 0 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: /keys "a", "c" were not available within 0 ms/,
    })
    release()
    assert.equal(mutex.size, 0)
    // With a timeout of 0 the server is asked once for each key.
    const both = await mutex.acquire(['a', 'b'], { timeout: 0 })
    both()
  })

  it('name the reason for methods that cannot wait for a server', async () => {
    const engine = await newEngine()
    const mutex = new Mutex({ engine, name: 'a' })
    const keyed = new KeyedMutex({ engine })
    const semaphore = new KeyedSemaphore(2, { engine })
    const rw = new KeyedRWLock({ engine })
    const calls = {
      tryLock: [() => mutex.tryLock(), () => keyed.tryLock('k')],
      tryAcquire: [
        () => mutex.tryAcquire(),
        () => keyed.tryAcquire('k'),
        () => semaphore.tryAcquire('k'),
      ],
      lockSync: [() => mutex.lockSync(), () => keyed.lockSync('k')],
      acquireSync: [
        () => mutex.acquireSync(),
        () => keyed.acquireSync('k'),
        () => semaphore.acquireSync('k'),
      ],
      runExclusiveSync: [() => mutex.runExclusiveSync(() => {})],
      tryAcquireRead: [() => rw.tryAcquireRead('k')],
      tryAcquireWrite: [() => rw.tryAcquireWrite('k')],
      acquireReadSync: [() => rw.acquireReadSync('k')],
      acquireWriteSync: [() => rw.acquireWriteSync('k')],
    }
    for (const [name, forms] of Object.entries(calls)) {
      for (const form of forms) {
        assert.throws(form, {
          name: 'TypeError',
          message: new RegExp(`^${name}\\(\\).* engine: use`),
        })
      }
    }
    assert.throws(() => mutex.buffer, TypeError)
    const reader = await rw.acquireRead('k')
    assert.throws(() => reader.tryUpgrade(), { name: 'TypeError', message: /engine: use upgrade/ })
    assert.throws(() => reader.upgradeSync(), { name: 'TypeError', message: /engine: use upgrade/ })
    reader()
    assert.equal(keyed.size + semaphore.size + rw.size, 0)
    assert.throws(() => new RWLock({ engine }), { name: 'TypeError', message: /needs a name/ })
    assert.throws(() => new Semaphore(1, { engine }), { name: 'TypeError', message: /engine/ })
    assert.throws(() => new Mutex({ engine }), { name: 'TypeError', message: /needs a name/ })
    const condition = new ConditionVariable()
    assert.throws(() => condition.wait(mutex), { name: 'TypeError', message: /engine/ })
    const buffer = new SharedArrayBuffer(4)
    for (const option of [{ buffer }, { scope: 'host', name: 'a' }, { directory: '/tmp' }]) {
      const [name] = Object.keys(option)
      const error = {
        name: 'TypeError',
        message: `a lock over an engine takes no ${name}: leave it out`,
      }
      assert.throws(() => new Mutex({ engine, ...option }), error)
    }
    assert.throws(() => new Engine({}), TypeError)
  })

  it('keep a semaphore from being used with another value', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const a = new KeyedSemaphore(2, { engine: one })
    const b = new KeyedSemaphore(3, { engine: two })
    const [value, release] = await a.acquire('key')
    assert.equal(value, 2)
    await assert.rejects(b.acquire('key'), {
      code: 'ERR_LOCK_MISMATCH',
      message: /semaphore of key "key" is in use with the value 2, not 3:/,
    })
    assert.throws(() => b.release('key'), { code: 'ERR_LOCK_RANGE' })
    release()
    await b.runExclusive('key', (value) => assert.equal(value, 3))
  })

  it('share one lease among all readers', async () => {
    const rw = new KeyedRWLock({ engine: await newEngine() })
    const readers = await Promise.all(Array.from({ length: 50 }, () => rw.acquireRead('key')))
    assert.equal(rw.readers('key'), 50)
    assert.equal(count('enter'), 1)
    const writer = rw.acquireWrite('key')
    for (const release of readers) release()
    ;(await writer)()
    assert.equal(rw.size, 0)
  })
})

describe('A lock manager over an engine', () => {
  const world = timedWorld()
  const { newEngine } = world

  it('excludes requests of other processes, and shares', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const [a, b] = [new LockManager({ engine: one }), new LockManager({ engine: two })]
    await a.request('name', async (lock) => {
      assert.equal(lock.name, 'name')
      assert.equal(lock.mode, 'exclusive')
      assert.equal(await b.request('name', { ifAvailable: true }, (lock) => lock), null)
      assert.equal(await b.acquire('name', { ifAvailable: true }), undefined)
      const waiting = a.request('name', { mode: 'shared' }, () => 'shared')
      const { held, pending } = await a.query()
      assert.deepEqual(
        [held, pending].map((list) => list.map(({ name, mode }) => ({ name, mode }))),
        [[{ name: 'name', mode: 'exclusive' }], [{ name: 'name', mode: 'shared' }]],
      )
      waiting.then(() => {})
    })
    const shared = await b.acquire('name', { mode: 'shared' })
    assert.equal(await a.request('name', { mode: 'shared' }, () => 'both'), 'both')
    shared()
    assert.deepEqual(await b.query(), { held: [], pending: [] })
  })

  it('rejects a request whose lock is lost, and unsupported requests', async () => {
    const locks = new LockManager({ engine: await newEngine({ ttl: 300, maxHold: 300 }) })
    const lost = locks.request('name', () => new Promise(() => {}))
    await assert.rejects(world.clock.until(lost), {
      code: 'ERR_LOCK_LOST',
      message: /the lock of key "name" has been lost/,
    })
    await assert.rejects(
      locks.request('name', { steal: true }, () => {}),
      { name: 'NotSupportedError' },
    )
    assert.throws(() => new LockManager({ name: 'a' }), TypeError)
    assert.throws(() => new LockManager({ engine: {} }), TypeError)
  })
})
