'use strict'
// How locks over an engine end when the renewing thread, or a caller's wait, ends at that moment.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const {
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  LockManager,
  Mutex,
  RWLock,
  Semaphore,
} = require('../..')
const { Engine } = require('../../lib/cluster/engine.js')
const { fakeWorld, realWorld, timedWorld } = require('./helpers/fake_world.js')

describe('Locks over an engine whose renewing thread fails', () => {
  const world = realWorld()

  /** `open` is that of a driver: without it, the thread opens the first session. */
  function mutexOf(diesAt, options, open) {
    const driver = world.server.driver()
    const data = { name: driver.keeper.data, diesAt }
    const keeper = { module: require.resolve('./helpers/dying_keeper.js'), data }
    const engine = new Engine({ ...driver, open, keeper }, options)
    world.engines.push(engine)
    return new KeyedMutex({ engine })
  }

  it('are lost when it dies, and available again with another thread', async () => {
    const mutex = mutexOf('renew', { ttl: 3000 })
    const release = await mutex.acquire('key')
    await once(release.signal, 'abort')
    const { code, message } = release.signal.reason
    assert.deepEqual([code, /a bug/.test(message)], ['ERR_LOCK_LOST', true])
    release()
    const next = await mutex.acquire('key', { timeout: 20_000 })
    assert.ok(next.fencingToken > release.fencingToken)
    next()
  })

  it('are available when it connects at last', async () => {
    const mutex = mutexOf('connect')
    const release = await mutex.acquire('key')
    assert.equal(release.signal.aborted, false)
    release()
  })

  it('report why it cannot connect, however long it tries', async () => {
    const mutex = mutexOf('trying', { answerTimeout: 1000 })
    let error
    do error = await mutex.acquire('key').catch((reason) => reason)
    while (error.cause === undefined)
    assert.equal(error.code, 'ERR_LOCK_ENGINE')
    assert.equal(error.cause.message, 'refused at ::1; refused at 127.0.0.1')
    assert.ok(error.message.endsWith(': refused at ::1; refused at 127.0.0.1'), error.message)
  })

  it('are not available if it dies each time before there is a session', async () => {
    const mutex = mutexOf('open', { answerTimeout: 1000 })
    let error
    // The thread may take longer to start than the server may take to answer.
    do error = await mutex.acquire('key').catch((reason) => reason)
    while (error.cause === undefined)
    assert.equal(error.code, 'ERR_LOCK_ENGINE')
    assert.match(error.cause.message, /a bug/)
    assert.equal(mutex.size, 0)
  })
})

describe('Locks over an engine whose listening connection fails', () => {
  const world = timedWorld()

  it('report why, until it has been made', async () => {
    let succeed
    const connected = new Promise((resolve) => {
      succeed = resolve
    })
    const change = (driver) => ({
      async listen(session, listener) {
        listener.trouble(new Error('no permission'))
        await connected
        listener.trouble(undefined)
        await driver.listen(session, listener)
      },
    })
    const mutex = new KeyedMutex({ engine: world.engineOver({}, change) })
    await assert.rejects(world.clock.until(mutex.acquire('key', { timeout: 50 })), {
      code: 'ERR_LOCK_ENGINE',
      message: /within 50 ms: no permission$/,
      cause: new Error('no permission'),
    })
    succeed()
    ;(await mutex.acquire('key'))()
    world.server.trouble = new Promise(() => {})
    await assert.rejects(world.clock.until(mutex.acquire('other', { timeout: 50 })), {
      code: 'ERR_LOCK_ENGINE',
      message: /within 50 ms; check that the server runs and can be reached$/,
    })
    world.server.trouble = undefined
  })
})

describe('Locks over an engine', () => {
  const world = timedWorld()

  it('are one lock for maps with different options in one thread', async () => {
    const engine = await world.newEngine()
    const [a, b] = [new KeyedMutex({ engine }), new KeyedMutex({ engine, fairness: 'fifo' })]
    const release = await a.acquire('key')
    await assert.rejects(b.acquire('key', { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    const theirs = b.acquire('key')
    const ours = a.acquire('key').then((next) => next())
    release()
    const next = await theirs
    assert.ok(next.fencingToken > release.fencingToken)
    next()
    await ours
    assert.deepEqual([a.size, b.size], [0, 0])
  })

  it('of two capacities fail to agree on a key, and go on with their leases', async () => {
    const engine = await world.newEngine()
    const [two, three] = [2, 3].map((value) => new KeyedSemaphore(value, { engine }))
    const [, release] = await two.acquire('key')
    await assert.rejects(three.acquire('key'), { code: 'ERR_LOCK_MISMATCH' })
    assert.equal(release.signal.aborted, false)
    release()
    assert.deepEqual([two.size, three.size], [0, 0])
  })

  it('are free when a reader has released, at any moment of its upgrade', async () => {
    let afterAnswer = () => {}
    const change = (driver) => ({
      async enter(request) {
        const answer = await driver.enter(request)
        afterAnswer()
        return answer
      },
    })
    const engine = world.engineOver({}, change)
    const locks = new KeyedRWLock({ engine })
    const others = new KeyedRWLock({ engine: await world.newEngine() })
    const outcomes = new Set()
    // The answer propagates through so many microtasks, and in each of them the reader may release.
    for (let hops = 0; hops < 30; hops++) {
      afterAnswer = () => {}
      const reader = await locks.acquireRead('key')
      afterAnswer = async () => {
        for (let i = 0; i < hops; i++) await undefined
        reader()
      }
      const upgraded = reader.upgrade().then(
        (writer) => {
          writer()
          return 'written'
        },
        ({ code }) => code,
      )
      outcomes.add(await upgraded)
      reader()
      ;(await others.acquireWrite('key', { timeout: 5000 }))()
    }
    assert.deepEqual(outcomes, new Set(['ERR_LOCK_NOT_HELD', 'written']))
    assert.equal(locks.size, 0)
  })
})

describe('Locks over a closed engine', () => {
  const world = timedWorld()
  const closed = { code: 'ERR_LOCK_ENGINE', message: /has been closed/ }

  it('reject the waiters behind a holder of the same thread at once, and later ones', async () => {
    const engine = await world.newEngine()
    const mutex = new Mutex({ engine, name: 'mutex' })
    const locks = new KeyedRWLock({ engine })
    const manager = new LockManager({ engine })
    const releases = [await mutex.acquire(), await locks.acquireRead('a')]
    const upgrading = await locks.acquireRead('a')
    const wait = () => [mutex.acquire(), locks.acquireWrite('a'), manager.request('b', () => {})]
    manager.request('b', () => new Promise(() => {})).catch(() => {})
    const rejected = [...wait(), mutex.acquire({ timeout: 60_000 })].map((waiting) =>
      assert.rejects(waiting, closed),
    )
    // The upgrade ends with the lease it belongs to.
    rejected.push(assert.rejects(upgrading.upgrade(), { code: /ERR_LOCK_(ENGINE|LOST)/ }))
    await new Promise(setImmediate)
    await engine.close()
    await Promise.all(rejected)
    await Promise.all(wait().map((waiting) => assert.rejects(waiting, closed)))
    for (const release of [...releases, upgrading]) release()
    assert.equal(locks.size, 0)
  })

  it('are free within ttl where the client was closed first, and closing reports that', async () => {
    const engine = await world.newEngine({ ttl: 500 })
    const mutex = new KeyedMutex({ engine })
    const release = await mutex.acquire('key')
    const cause = new Error('Connection is closed.')
    world.server.trouble = Promise.reject(cause)
    world.server.trouble.catch(() => {})
    await assert.rejects(world.clock.until(engine.close()), {
      code: 'ERR_LOCK_ENGINE',
      cause,
      message:
        /^the engine is closed, but .*: Connection is closed\. They .* ttl of 500 ms is over/,
    })
    assert.equal(release.signal.aborted, true)
  })

  it('are free within ttl where the server does not answer, and closing reports that', async () => {
    const engine = await world.newEngine({ ttl: 500, answerTimeout: 100 })
    world.server.trouble = new Promise(() => {})
    await assert.rejects(world.clock.until(engine.close()), {
      code: 'ERR_LOCK_ENGINE',
      message:
        'the engine is closed, but Fake could not be told to free its locks: there was no answer within 100 ms. ' +
        'They are free once their ttl of 500 ms is over. Close an engine before its client',
    })
    await engine.close()
  })
})

describe('A lease that is kept for a caller of another weight', () => {
  const world = fakeWorld()

  for (const isOver of [false, true]) {
    const turn = isOver ? 'after' : 'during'
    it(`ends when that caller waits for the server, ${turn} the turn of its thread`, async () => {
      const [one, other] = [await world.newEngine(), await world.newEngine()]
      const [here, there] = [one, other].map((engine) => new Semaphore(3, { engine, name: 's' }))
      const [, release] = await here.acquire(2)
      await there.acquire(1)
      const controller = new AbortController()
      const aborted = assert.rejects(here.acquire({ weight: 1, signal: controller.signal }))
      await world.clock.settle()
      there.acquire(2)
      await world.clock.settle()
      let isIn = false
      here.acquire(1).then(() => {
        isIn = true
      })
      await world.clock.settle()
      if (isOver) await world.clock.pass(200)
      controller.abort()
      release()
      await aborted
      // The local caller takes over the request of the aborted one. It gets its unit of those that have come back.
      await world.clock.pass(1000)
      assert.ok(isIn)
    })
  }
})

describe('A lease that no caller of its thread takes any more', () => {
  const world = fakeWorld()

  it('ends though a caller that waits in its thread gives up in the same turn', async () => {
    const engine = await world.newEngine()
    const mutex = new Mutex({ engine, name: 'm' })
    const release = await mutex.acquire()
    const controller = new AbortController()
    const aborted = assert.rejects(mutex.acquire({ signal: controller.signal }))
    controller.abort()
    release()
    await aborted
    await world.clock.settle()
    assert.equal(world.count('leave'), 1)
  })

  it('ends though an upgrade of its thread gives up in the same turn', async () => {
    const engine = await world.newEngine()
    const lock = new RWLock({ engine, name: 'l' })
    const [one, other] = await Promise.all([lock.acquireRead(), lock.acquireRead()])
    const controller = new AbortController()
    const aborted = assert.rejects(one.upgrade({ signal: controller.signal }))
    controller.abort()
    one()
    other()
    await aborted
    await world.clock.settle()
    assert.equal(world.count('leave'), 1)
  })

  it('goes to a reader that its thread has just admitted', async () => {
    const engine = await world.newEngine()
    const lock = new RWLock({ engine, name: 'l' })
    const release = await lock.acquireRead()
    const next = lock.acquireRead()
    release()
    const nextRelease = await next
    assert.equal(world.count('enter'), 1)
    nextRelease()
    await world.clock.settle()
    assert.equal(world.count('leave'), 1)
  })
})
