'use strict'
// Locks with their own `maxHold` and `minHold`: refused options, and leases without an end.
// helpers/hold_contract.js tests what every engine does for them.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const boxoffice = require('../..')
const { hubOf } = require('../../lib/cluster/engine.js')
const { fakeWorld, timedWorld } = require('./helpers/fake_world.js')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, LeaderElection, LockManager, Mutex } = boxoffice
const { RecursiveMutex, RWLock, Semaphore } = boxoffice
const unsupported = { code: 'ERR_LOCK_UNSUPPORTED' }

describe('The options maxHold and minHold', () => {
  const world = fakeWorld()
  const name = 'nightly'

  it('are numbers of milliseconds, in their ranges', async () => {
    const engine = await world.newEngine()
    for (const option of ['maxHold', 'minHold']) {
      for (const time of ['1000', null, {}, 5n]) {
        assert.throws(() => new Mutex({ engine, name, [option]: time }), {
          name: 'TypeError',
          message: new RegExp(`^${option} must be a number`),
        })
      }
      for (const time of [-1, Number.NaN, 2 ** 31, -Infinity]) {
        assert.throws(() => new KeyedMutex({ engine, [option]: time }), {
          name: 'RangeError',
          message: new RegExp(`^${option} must be from`),
        })
      }
    }
    assert.throws(() => new Mutex({ engine, name, maxHold: 99 }), RangeError)
    assert.throws(() => new Mutex({ engine, name, minHold: Infinity }), RangeError)
    for (const time of [0, 100, 2 ** 31 - 1]) {
      new Mutex({ engine, name: `${name} ${time}`, minHold: time, maxHold: Infinity })
    }
  })

  it('let the driver forget a hold that ends by itself, and no other', async () => {
    const forgotten = []
    const entered = []
    const engine = await world.newEngine({}, (driver) => ({
      enter: (request) => {
        entered.push({ key: request.key, id: request.id })
        return driver.enter(request)
      },
      forget: (request) => forgotten.push(request),
    }))
    const mutex = new KeyedMutex({ engine, name, maxHold: 1000 })
    ;(await mutex.acquire('released'))()
    await mutex.acquire('lost')
    await world.clock.pass(1000)
    assert.deepEqual(forgotten, entered.slice(-1))
  })

  it('free the lock of a lost hold before its holder goes on', async () => {
    const engine = await world.newEngine()
    const mutex = new Mutex({ engine, name, maxHold: 1000 })
    const semaphore = new Semaphore(1, { engine, name, maxHold: 1000 })
    const rwLock = new RWLock({ engine, name, maxHold: 1000 })
    const { signal } = await mutex.acquire()
    await semaphore.acquire()
    await rwLock.acquireWrite()
    await world.clock.settle()
    // The end of the session ends all of them at once.
    world.server.sessions.clear()
    const other = new Mutex({ engine, name: 'other' }).acquire()
    await once(signal, 'abort')
    assert.equal(mutex.isLocked(), false)
    assert.equal(semaphore.getValue(), 1)
    assert.equal(rwLock.isLocked(), false)
    const again = [mutex.acquire({ ifAvailable: true }), rwLock.acquireWrite({ maxPending: 0 })]
    for (const take of [...again, other]) (await world.clock.until(take))()
  })

  it('let a call inside a lost hold of a recursive mutex acquire it anew, even at once', async () => {
    const engine = await world.newEngine()
    const mutex = new RecursiveMutex({ engine, name, maxHold: 1000 })
    const called = mutex.runExclusive(async ({ signal }) => {
      await once(signal, 'abort')
      const isLost = await mutex.runExclusive((inner) => inner.signal.aborted)
      assert.equal(isLost, false)
    })
    await world.clock.until(called)
  })

  it('must not make a hold end before minHold', async () => {
    const engine = await world.newEngine({ ttl: 1000, maxHold: 5000 })
    const both = { engine, name, minHold: 2000, maxHold: 1000 }
    assert.throws(() => new Mutex(both), { name: 'RangeError', message: /which is 1000 ms/ })
    const own = { engine, name: 'own', minHold: 6000 }
    assert.throws(() => new Mutex(own), { name: 'RangeError', message: /which is 5000 ms over/ })
    new Mutex({ ...own, maxHold: 6000 })
  })

  it('are for locks of several processes', async () => {
    for (const option of ['maxHold', 'minHold']) {
      const options = { [option]: 1000 }
      for (const Class of [Mutex, RecursiveMutex, RWLock, KeyedMutex, KeyedRWLock, LockManager]) {
        assert.throws(() => new Class(options), { ...unsupported, message: /an engine/ })
      }
      assert.throws(() => new Semaphore(1, options), unsupported)
      assert.throws(() => new KeyedSemaphore(1, options), unsupported)
      assert.throws(() => new Mutex({ ...options, name }), unsupported)
    }
  })

  it('are for mutexes only, in the case of minHold', async () => {
    const engine = await world.newEngine()
    const options = { engine, name, minHold: 1000 }
    for (const Class of [RWLock, KeyedRWLock, LockManager]) {
      assert.throws(() => new Class(options), {
        ...unsupported,
        message: /over an engine has no minHold: use a Mutex/,
      })
    }
    assert.throws(() => new Semaphore(1, options), unsupported)
    assert.throws(() => new KeyedSemaphore(1, options), unsupported)
    for (const Class of [Mutex, RecursiveMutex, KeyedMutex]) new Class(options)
  })

  it('begin no minHold with a grant whose caller has given up meanwhile', async () => {
    const mutex = new Mutex({ engine: await world.newEngine(), name, minHold: 10_000 })
    let answer
    world.server.slowAnswer = new Promise((resolve) => {
      answer = resolve
    })
    const controller = new AbortController()
    const gone = assert.rejects(mutex.acquire({ signal: controller.signal }))
    await world.clock.settle()
    controller.abort()
    await gone
    world.server.slowAnswer = undefined
    answer()
    await world.clock.settle()
    ;(await mutex.acquire({ timeout: 0 }))()
  })

  it('need a driver that supports minHold', async () => {
    const engine = world.engineOver({}, () => ({ keepsMinHold: undefined }))
    const options = { engine, name, minHold: 1000 }
    assert.throws(() => new Mutex(options), { ...unsupported, message: /keepsMinHold/ })
    await new Mutex({ engine, name, maxHold: 1000 }).runExclusive(() => {})
  })
})

describe('A lease that its thread passes on', () => {
  const world = timedWorld()

  it('leaves each holder at least half of maxHold', async () => {
    const mutex = new Mutex({
      engine: await world.newEngine({ ttl: 1000, maxHold: 1000 }),
      name: 'a',
    })
    const release = await mutex.acquire()
    const next = mutex.acquire()
    await world.clock.pass(600)
    release()
    const { signal } = await next
    await world.clock.pass(500)
    assert.equal(signal.aborted, false)
  })
})

describe('A lease without an end', () => {
  const world = timedWorld()

  /** The server knows each of them for 300 ms, so it is confirmed each 150 ms. */
  async function shortOf(change) {
    const engine = await world.newEngine({ ttl: 1000 }, change)
    hubOf(engine).settings.longestHold = 300
    return engine
  }

  /** Lets twice that time pass, in which the server has so many of these commands. */
  async function confirmed(count = 4, method = 'confirm') {
    await world.clock.pass(600)
    assert.equal(world.count(method), count)
  }

  it('is extended as long as it is held, and no longer', async () => {
    const mutex = new Mutex({ engine: await shortOf(), name: 'a', maxHold: Infinity })
    const release = await mutex.acquire()
    await confirmed()
    assert.equal(release.signal.aborted, false)
    release()
    await confirmed()
  })

  it('is extended if it began by a message', async () => {
    const [one, other] = [await shortOf(), await world.newEngine()]
    const options = { name: 'a', maxHold: Infinity }
    const release = await new Mutex({ ...options, engine: other }).acquire()
    const next = new Mutex({ ...options, engine: one }).acquire()
    await world.queued()
    release()
    const { signal } = await next
    // The first one confirms the claim.
    await confirmed(5)
    assert.equal(signal.aborted, false)
  })

  it('is extended by a driver without confirm()', async () => {
    const engine = await shortOf(() => ({ confirm: undefined }))
    const mutex = new Mutex({ engine, name: 'a', maxHold: Infinity })
    const release = await mutex.acquire()
    // The first one is the request.
    await confirmed(5, 'enter')
    assert.equal(release.signal.aborted, false)
    release()
  })

  it('leaves no waiter at the server when it is lost, by a driver without confirm()', async () => {
    const [other, state] = [await world.newEngine(), { isCut: false }]
    const engine = await shortOf((driver) => ({
      confirm: undefined,
      async enter(request) {
        if (state.isCut) throw new Error('cut')
        return driver.enter(request)
      },
    }))
    const { signal } = await new Mutex({ engine, name: 'a', maxHold: Infinity }).acquire()
    state.isCut = true
    await world.clock.until(once(signal, 'abort'))
    const next = await world.clock.until(new Mutex({ engine: other, name: 'a' }).acquire())
    state.isCut = false
    await world.clock.pass(200)
    await world.queued(0)
    next()
  })

  it('aborts its signal if the server does not know it any more', async () => {
    const confirm = async () => {
      world.server.keys.clear()
      return { state: 'over', wanted: false }
    }
    const engine = await shortOf(() => ({ confirm }))
    const mutex = new Mutex({ engine, name: 'a', maxHold: Infinity })
    const release = await mutex.acquire()
    const { signal } = release
    let isIn = false
    const next = mutex.acquire().finally(() => {
      isIn = true
    })
    await world.clock.until(once(signal, 'abort'))
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    // Without a maxHold of its own, the waiters of its thread wait for its release.
    await world.clock.settle()
    assert.equal(isIn, false)
    release()
    ;(await world.clock.until(next))()
  })

  it('is extended for a reader that has upgraded, by both of its leases', async () => {
    const lock = new RWLock({ engine: await shortOf(), name: 'a', maxHold: Infinity })
    const reader = await lock.acquireRead()
    // Just before the first confirmation of the reader's lease.
    await world.clock.pass(149)
    const writer = await reader.upgrade()
    await confirmed(8)
    assert.equal(writer.signal.aborted, false)
    writer()
  })

  it("is the leader's lease of a LeaderElection with maxHold: Infinity", async () => {
    const election = new LeaderElection({
      engine: await shortOf(),
      name: 'a',
      maxHold: Infinity,
    })
    const isAborted = await election.lead(async (signal) => {
      await confirmed()
      return signal.aborted
    })
    assert.equal(isAborted, false)
  })
})

describe('An upgrade where each hold has a lease of its own', () => {
  const world = timedWorld()

  /** A reader, one of its thread that waits behind a writer of another one, and their lock. */
  async function readers() {
    const options = { name: 'a', maxHold: 600_000 }
    const lock = new RWLock({ ...options, engine: await world.newEngine() })
    const other = new RWLock({ ...options, engine: await world.newEngine() })
    const reader = await lock.acquireRead()
    const elsewhere = other.acquireWrite()
    await world.queued()
    const second = lock.acquireRead()
    await world.queued(2)
    return { lock, reader, second, elsewhere }
  }

  it('goes ahead of a reader of its thread that waits behind a writer elsewhere', async () => {
    const { reader, second, elsewhere } = await readers()
    await assert.rejects(reader.upgrade({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    const order = []
    const use = async (granted, name) => {
      const release = await granted
      order.push(name)
      release()
    }
    const all = [use(elsewhere, 'elsewhere'), use(second, 'second'), use(reader.upgrade(), 'own')]
    await world.clock.settle()
    assert.deepEqual(order, ['own', 'elsewhere', 'second'])
    await Promise.all(all)
  })

  it('goes ahead of a reader of its thread that has not asked the server yet', async () => {
    const options = { name: 'a', maxHold: 600_000, engine: await world.newEngine() }
    const lock = new RWLock(options)
    // An earlier upgrade changes nothing.
    ;(await (await lock.acquireRead()).upgrade())()
    const reader = await lock.acquireRead()
    const second = lock.acquireRead()
    const order = []
    const use = async (granted, name) => {
      const release = await granted
      order.push(name)
      release()
    }
    await Promise.all([use(second, 'second'), use(reader.upgrade(), 'own')])
    assert.deepEqual(order, ['own', 'second'])
  })

  it('ends with the lease of its reader', async () => {
    const options = { name: 'a', maxHold: 1000 }
    const lock = new RWLock({ ...options, engine: await world.newEngine() })
    const other = new RWLock({ ...options, engine: await world.newEngine() })
    const reader = await lock.acquireRead()
    const start = world.clock.now()
    await world.clock.pass(500)
    await reader.upgrade()
    const next = await world.clock.until(other.acquireWrite())
    const passed = world.clock.now() - start
    assert.ok(passed <= 1010, `${passed} ms`)
    next()
  })

  it('lets cancel() reject that reader, too', async () => {
    const { lock, reader, second, elsewhere } = await readers()
    const upgraded = reader.upgrade()
    const enough = new Error('enough')
    lock.cancel(enough)
    await assert.rejects(second, enough)
    await assert.rejects(upgraded, enough)
    reader()
    ;(await elsewhere)()
  })
})
