'use strict'
// Features that locks over an engine share with those of one process, beyond plain acquiring:
// lib/cluster, with a server in memory.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')
const { KeyedMutex, KeyedSemaphore, Mutex, RWLock, Semaphore } = require('../..')
const { fakeWorld, timedWorld } = require('./helpers/fake_world.js')
const { inChild } = require('../helpers/children.js')
const { atEachDepth, withoutTraces } = require('../helpers/stack_end.js')

describe('Several keys over an engine', () => {
  const world = timedWorld()
  const { newEngine } = world

  it('keep other processes out, also after many keys, whose locks in this thread are used again', async () => {
    const [here, there] = [await newEngine(), await newEngine()].map(
      (engine) => new KeyedMutex({ engine }),
    )
    for (let key = 0; key < 300; key++) (await here.acquire(key))()
    const release = await here.acquire('last')
    assert.equal(await there.acquire('last', { ifAvailable: true }), undefined)
    release()
  })

  it('have one token each, and one common signal', async () => {
    const engine = await newEngine()
    const mutex = new KeyedMutex({ engine })
    const before = await mutex.acquire('a')
    before()
    const release = await mutex.acquire(['b', 'a', 'b'])
    assert.deepEqual([...release.fencingTokens.keys()], ['a', 'b'])
    assert.ok(release.fencingTokens.get('a') > before.fencingToken)
    assert.equal(release.fencingToken, undefined)
    assert.equal(release.signal.aborted, false)
    await engine.close()
    assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
    release()
    assert.equal('signal' in (await mutex.acquire([])), false)
    const semaphore = new KeyedSemaphore(2, { engine: await newEngine() })
    const [values, both] = await semaphore.acquire(['a', 'b'])
    assert.deepEqual(values, [2, 2])
    assert.equal(both.fencingTokens.size, 2)
    both()
  })

  it('abort the signal when the first of them is lost', async () => {
    const mutex = new KeyedMutex({ engine: await newEngine({ ttl: 1000, maxHold: 1000 }) })
    const other = new KeyedMutex({ engine: await newEngine() })
    const theirs = await other.acquire('b')
    const both = mutex.acquire(['a', 'b'])
    await world.clock.pass(200)
    theirs()
    const { signal } = await both
    await world.clock.until(once(signal, 'abort'))
    assert.match(signal.reason.message, /key "a" has been lost/)
    const next = await other.acquire('b', { timeout: 0 }).catch(({ code }) => code)
    assert.equal(next, 'ERR_LOCK_TIMEOUT')
  })

  it('reject if one is lost before all are granted', async () => {
    const mutex = new KeyedMutex({ engine: await newEngine({ ttl: 300, maxHold: 300 }) })
    const other = new KeyedMutex({ engine: await newEngine() })
    const theirs = await other.acquire('b')
    let isCalled = false
    const both = mutex.runExclusive(['a', 'b'], () => {
      isCalled = true
    })
    // Before the clock moves: it rejects at the loss.
    const rejected = assert.rejects(both, { code: 'ERR_LOCK_LOST', message: /key "a"/ })
    await world.clock.pass(400)
    theirs()
    await rejected
    assert.equal(isCalled, false)
    assert.equal(mutex.size, 0)
    ;(await other.acquire('b', { timeout: 2000 }))()
  })
})

describe('A reader over an engine that has lost its lease', () => {
  const world = timedWorld()
  const { newEngine, queued } = world

  it('lets no other reader in beside a writer elsewhere when it asks to upgrade', async () => {
    const here = new RWLock({ engine: await newEngine(), name: 'a' })
    const there = new RWLock({ engine: await newEngine(), name: 'a' })
    const reader = await here.acquireRead()
    const lost = once(reader.signal, 'abort')
    world.server.sessions.delete([...world.server.sessions.keys()][0])
    const writer = await world.clock.until(there.acquireWrite())
    await world.clock.until(lost)
    let isIn = false
    const other = here.acquireRead().finally(() => {
      isIn = true
    })
    await queued()
    await assert.rejects(reader.upgrade(), { code: 'ERR_LOCK_LOST' })
    await world.clock.settle()
    assert.equal(isIn, false)
    writer()
    ;(await world.clock.until(other))()
  })
})

describe('Readers over an engine that ask the server at once', () => {
  const world = fakeWorld()

  it('wait, or do not wait, each as it wants', async () => {
    const [here, there] = [await world.newEngine(), await world.newEngine()].map(
      (engine) => new RWLock({ engine, name: 'a' }),
    )
    const writer = await there.acquireWrite()
    const ask = (...all) => all.map((ifAvailable) => here.acquireRead({ ifAvailable }))
    const [first, second, third] = ask(true, false, true)
    assert.deepEqual(await Promise.all([first, third]), [undefined, undefined])
    writer()
    ;(await second)()
  })
})

describe('A reader over an engine that releases as the server grants its upgrade', () => {
  const world = timedWorld()

  it('gives up both', async () => {
    let release
    const engine = await world.newEngine({}, (driver) => ({
      enter(request) {
        const answer = driver.enter(request)
        // After the lease has been granted, and before its caller runs.
        if (request.first) answer.then(() => queueMicrotask(release))
        return answer
      },
    }))
    const lock = new RWLock({ engine, name: 'a' })
    release = await lock.acquireRead()
    await assert.rejects(release.upgrade(), { code: 'ERR_LOCK_NOT_HELD' })
    assert.equal(lock.isLocked(), false)
    const other = new RWLock({ engine: await world.newEngine(), name: 'a' })
    ;(await other.acquireWrite({ timeout: 1000 }))()
  })
})

describe('A hold of a read-write lock over an engine that its maxHold has ended', () => {
  const world = timedWorld()

  it('rejects upgrade(), and lets downgrade() throw', async () => {
    const lock = new RWLock({ engine: await world.newEngine(), name: 'a', maxHold: 200 })
    const lost = { code: 'ERR_LOCK_LOST' }
    const reader = await lock.acquireRead()
    await world.clock.pass(200)
    for (const options of [{}, { timeout: 0 }, { ifAvailable: true }])
      await assert.rejects(reader.upgrade(options), lost)
    const writer = await lock.acquireWrite({ timeout: 0 })
    await world.clock.pass(200)
    assert.throws(() => writer.downgrade(), lost)
    for (const one of [reader, writer]) one()
    assert.equal(lock.isLocked(), false)
  })
})

describe('The report of a dead holder, over an engine', () => {
  const world = timedWorld()
  const { newEngine } = world

  /** A key whose holder has died. */
  async function abandoned() {
    const one = new KeyedMutex({ engine: await newEngine() })
    await one.acquire('key')
    world.server.sessions.clear()
    return new KeyedMutex({ engine: await newEngine() })
  }

  it('goes to the next holder, if a caller gave up while the answer was on its way', async () => {
    const mutex = await abandoned()
    let answer
    world.server.slowAnswer = new Promise((resolve) => {
      answer = resolve
    })
    const late = mutex.acquire('key', { timeout: 50 })
    await assert.rejects(world.clock.until(late), { code: 'ERR_LOCK_ENGINE' })
    world.server.slowAnswer = undefined
    answer()
    const release = await mutex.acquire('key')
    assert.equal(release.abandoned, true)
    release()
    assert.equal((await mutex.acquire('key')).abandoned, false)
  })

  it('goes to the next holder of this thread, if the caller did not get all keys', async () => {
    const mutex = await abandoned()
    const held = await mutex.acquire('z')
    const late = mutex.acquire(['key', 'z'], { timeout: 50 })
    await assert.rejects(world.clock.until(late), { code: 'ERR_LOCK_TIMEOUT' })
    await mutex.waitForUnlock('key')
    const both = mutex.acquire(['key', 'z'])
    held()
    assert.equal((await both).abandoned, true)
  })

  it('goes to one holder only, of any caller of this thread', async () => {
    const mutex = await abandoned()
    const first = mutex.acquire('key')
    const second = mutex.acquire('key')
    const release = await first
    assert.equal(release.abandoned, true)
    release()
    assert.equal((await second).abandoned, false)
  })
})

describe('A semaphore over an engine', () => {
  const world = timedWorld()
  const { newEngine } = world

  it('can be given back without its Releaser, also in parts', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const [a, b] = [one, two].map((engine) => new KeyedSemaphore(5, { engine }))
    const [, small] = await a.acquire('key', 1)
    const [, large] = await a.acquire('key', 4)
    assert.throws(() => a.release('key', 6), RangeError)
    assert.throws(() => b.release('key'), { code: 'ERR_LOCK_RANGE', message: /key "key"/ })
    const wanted = b.acquire('key', 3)
    await world.queued()
    a.release('key', 3)
    assert.equal(a.getValue('key'), 3)
    const [, theirs] = await wanted
    small()
    assert.equal(a.getValue('key'), 3)
    await assert.rejects(b.acquire('key', { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    large()
    large()
    assert.equal(a.getValue('key'), 5)
    theirs()
    ;(await a.acquire('key', 5, { timeout: 2000 }))[1]()
    assert.equal(a.size + b.size, 0)
  })

  describe('near the end of the stack', () => {
    withoutTraces()

    it('is released, or stays as it is', async () => {
      const semaphore = new Semaphore(2, { engine: await newEngine(), name: 'deep' })
      let held
      const take = async () => {
        held ??= (await semaphore.acquire())[1]
      }
      const give = () => held()
      await atEachDepth(take, give, async (_, { error }) => {
        assert.equal(semaphore.getValue(), error === undefined ? 2 : 1)
        if (error !== undefined) return
        held = undefined
        await semaphore.onIdle()
        assert.equal(world.server.keys.get('semaphore:deep').holders.size, 0)
      })
    })
  })

  it('can be awaited without being acquired, and looked at', async () => {
    const semaphore = new KeyedSemaphore(2, { engine: await newEngine() })
    await semaphore.waitForUnlock('key', 2)
    assert.equal(semaphore.getValue('key'), 2)
    const [, release] = await semaphore.acquire('key', 2)
    assert.deepEqual(semaphore.snapshot(), [{ key: 'key', value: 0, waiting: 0 }])
    const seen = semaphore.waitForUnlock('key')
    assert.equal(semaphore.snapshot()[0].waiting, 1)
    release()
    await seen
    assert.equal(semaphore.size, 0)
  })

  it('ends with an engine that `await using` closes', async () => {
    const engine = await newEngine()
    const semaphore = new KeyedSemaphore(2, { engine })
    const [, release] = await semaphore.acquire('key')
    await engine[Symbol.asyncDispose]()
    assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
    await assert.rejects(semaphore.acquire('key'), {
      code: 'ERR_LOCK_ENGINE',
      message: /closed/,
    })
    release()
  })

  it('admits local waiters to units that are given back', async () => {
    const semaphore = new KeyedSemaphore(4, { engine: await newEngine() })
    await semaphore.acquire('key', 4)
    const [first, second] = [semaphore.acquire('key', 1), semaphore.acquire('key', 2)]
    semaphore.release('key', 2)
    const [value, release] = await first
    assert.equal(value, 2)
    semaphore.release('key')
    ;(await second)[1]()
    release()
    semaphore.release('key')
    assert.equal(semaphore.size, 0)
  })
})

describe('Objects of one name over an engine', () => {
  const { newEngine } = fakeWorld()

  it('are one read-write lock', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const a = new RWLock({ engine: one, name: 'a' })
    const b = new RWLock({ engine: two, name: 'a' })
    const reader = await a.acquireRead()
    assert.equal(await b.runShared(() => b.readers), 1)
    await assert.rejects(b.acquireWrite({ timeout: 0 }), {
      code: 'ERR_LOCK_TIMEOUT',
      message: 'the read-write lock "a" was not available within 0 ms',
    })
    const writer = await reader.upgrade()
    assert.equal(a.isWriteLocked(), true)
    await assert.rejects(b.acquireRead({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    writer()
    assert.equal(a.isLocked(), false)
    await b.runExclusive(() =>
      assert.deepEqual(b.snapshot(), { readers: 0, written: true, waiting: 0 }),
    )
    assert.throws(() => a.buffer, TypeError)
  })

  it('reject cancelled waiters with the cancelError of each', async () => {
    const engine = await newEngine()
    const [a, b] = ['one', 'two'].map(
      (message) => new Mutex({ engine, name: 'a', cancelError: new Error(message) }),
    )
    const release = await a.acquire()
    for (const [mutex, message] of [
      [a, 'one'],
      [b, 'two'],
    ]) {
      const waiting = mutex.acquire()
      mutex.cancel()
      await assert.rejects(waiting, { message })
    }
    release()
  })

  it('cancel callers that have not asked the server yet', async () => {
    const engine = await newEngine()
    const error = new Error('enough')
    const mutex = new Mutex({ engine, name: 'a' })
    const keyed = new KeyedMutex({ engine, name: 'a' })
    const semaphore = new Semaphore(2, { engine, name: 'a' })
    const lock = new RWLock({ engine, name: 'a' })
    const asking = [
      mutex.acquire(),
      mutex.runExclusive(() => assert.fail('it was cancelled')),
      keyed.acquire('key', { timeout: 1e6 }),
      semaphore.acquire(),
      lock.acquireRead(),
      lock.acquireWrite(),
    ]
    for (const each of [mutex, semaphore, lock]) each.cancel(error)
    keyed.cancel('key', error)
    for (const each of asking) await assert.rejects(each, error)
    for (const each of [mutex, semaphore, lock]) assert.equal(each.isLocked(), false)
    assert.equal(keyed.size, 0)
    ;(await mutex.acquire({ timeout: 0 }))()
  })

  it('cancel an upgrade that has not asked the server yet', async () => {
    const [lock, other] = [await newEngine(), await newEngine()].map(
      (engine) => new RWLock({ engine, name: 'a' }),
    )
    const releases = [await lock.acquireRead(), await other.acquireRead()]
    const error = new Error('enough')
    const upgrading = releases[0].upgrade()
    lock.cancel(error)
    await assert.rejects(upgrading, error)
    assert.equal(lock.snapshot().readers, 1)
    const again = releases[0].upgrade()
    releases[1]()
    ;(await again)()
  })

  it('cancel no caller whose lease is here already', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'a' })
    const release = await mutex.acquire()
    const next = mutex.acquire()
    release()
    mutex.cancel()
    ;(await next)()
  })

  it('stay one lock as long as it is held or awaited', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc')
    const engine = await newEngine()
    const release = await new Mutex({ engine, name: 'a' }).acquire()
    const waiting = new Mutex({ engine, name: 'a' }).acquire()
    const keyed = await new KeyedMutex({ engine, name: 'a' }).acquire('key')
    for (let i = 0; i < 3; i++) {
      gc()
      await sleep(1)
    }
    await assert.rejects(new Mutex({ engine, name: 'a' }).acquire({ timeout: 0 }), {
      code: 'ERR_LOCK_TIMEOUT',
    })
    assert.equal(new KeyedMutex({ engine, name: 'a' }).isLocked('key'), true)
    release()
    keyed()
    ;(await waiting)()
  })

  it('are forgotten with their name when they are unreachable', async function () {
    this.timeout(60_000)
    const most = 500_000
    const code = `
      const { Engine } = require(${JSON.stringify(require.resolve('../../lib/cluster/engine.js'))})
      const { FakeServer } = require(${JSON.stringify(require.resolve('./helpers/fake_server.js'))})
      const engine = new Engine(new FakeServer().driver())
      const { bytes } = await growth((round) => {
        for (let i = 0; i < 2000; i++) {
          new Mutex({ engine, name: 'a'.repeat(500) + round + ' ' + i })
          new KeyedMutex({ engine, name: 'a'.repeat(500) + round + ' ' + i })
        }
      }, { bytes: ${most} })
      show(bytes)`
    const [bytes] = await inChild(code, '--expose-gc')
    assert.ok(bytes < most, `${bytes} bytes`)
  })

  it('keep nothing of a key without callers', async function () {
    this.timeout(60_000)
    const most = 200_000
    const code = `
      const { Engine } = require(${JSON.stringify(require.resolve('../../lib/cluster/engine.js'))})
      const { FakeServer } = require(${JSON.stringify(require.resolve('./helpers/fake_server.js'))})
      const server = new FakeServer()
      const locks = new KeyedMutex({ engine: new Engine(server.driver()) })
      const { bytes } = await growth(async (round) => {
        const all = []
        for (let i = 0; i < 2000; i++) all.push(locks.acquire('a'.repeat(500) + round + ' ' + i))
        for (const release of await Promise.all(all)) release()
        await locks.onIdle()
        server.keys.clear()
        server.commands = []
      }, { bytes: ${most} })
      show(bytes)`
    const [bytes] = await inChild(code, '--expose-gc')
    assert.ok(bytes < most, `${bytes} bytes`)
  })
})
