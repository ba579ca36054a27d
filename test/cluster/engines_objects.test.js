'use strict'
// Objects of one thread for one lock over an engine, with different options.
const assert = require('node:assert/strict')
const {
  KeyedMutex,
  KeyedSemaphore,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
  snapshot,
} = require('../..')
const { isPending } = require('../helpers/closable.js')
const { fakeWorld } = require('./helpers/fake_world.js')

describe('Objects of one name over an engine', () => {
  const world = fakeWorld()
  let engine
  beforeEach(async () => {
    engine = await world.newEngine()
  })

  for (const [what, more] of Object.entries({
    "fairness: 'fifo'": { fairness: 'fifo' },
    diagnostics: { diagnostics: true },
  })) {
    it(`are one mutex, also with ${what}`, async () => {
      const [one, other] = [{}, more].map((options) => new Mutex({ engine, name: 'm', ...options }))
      await one.acquire()
      const waiting = other.acquire()
      assert.deepEqual([other.isLocked(), one.snapshot().waiting], [true, 1])
      await assert.rejects(one.acquire({ maxPending: 1 }), { code: 'ERR_LOCK_QUEUE_FULL' })
      one.cancel()
      await assert.rejects(waiting, { code: 'ERR_LOCK_CANCELED' })
      other.release()
      assert.equal(one.isLocked(), false)
    })

    it(`are one semaphore, also with ${what}`, async () => {
      const make = (options) => new Semaphore(2, { engine, name: 's', ...options })
      const [one, other] = [make({}), make(more)]
      await one.acquire(2)
      assert.equal(other.getValue(), 0)
      other.release(2)
      assert.equal(one.getValue(), 2)
    })

    it(`are one keyed map, also with ${what}`, async () => {
      const make = (Keyed, ...args) =>
        [{}, more].map((options) => new Keyed(...args, { engine, name: 'k', ...options }))
      const [one, other] = make(KeyedMutex)
      const release = await one.acquire('a')
      assert.deepEqual([[...other.keys()], other.size, other.isLocked('a')], [['a'], 1, true])
      release()
      const [first, second] = make(KeyedSemaphore, 2)
      await first.acquire('a', 2)
      second.release('a', 2)
      assert.equal(first.isLocked('a'), false)
    })

    it(`admit the chain that holds a key through another one, also with ${what}`, async () => {
      const [one, other] = [{}, more].map(
        (options) => new KeyedMutex({ engine, name: 'r', reentrant: true, ...options }),
      )
      const inside = () => other.runExclusive('a', () => 'in', { timeout: 1000 })
      assert.equal(await one.runExclusive('a', inside), 'in')
    })
  }

  it('need a name that a server can tell from others', () => {
    const error = { name: 'RangeError', message: /^name must be well-formed Unicode/ }
    for (const Lock of [Mutex, KeyedMutex])
      assert.throws(() => new Lock({ engine, name: '\ud800' }), error)
  })

  it('must have the same times', () => {
    const a = new Mutex({ engine, name: 'times', maxHold: 1000 })
    assert.throws(() => new Mutex({ engine, name: 'times' }), {
      code: 'ERR_LOCK_MISMATCH',
      message:
        'the mutex "times" exists with another maxHold or minHold: construct it alike everywhere',
    })
    new Mutex({ engine, name: 'ever', maxHold: Infinity })
    // It has the engine's maxHold.
    assert.throws(() => new Mutex({ engine, name: 'ever' }), { code: 'ERR_LOCK_MISMATCH' })
    new Mutex({ engine, name: 'rest', minHold: 0 })
    new Mutex({ engine, name: 'rest' })
    const keyed = new KeyedMutex({ engine })
    assert.throws(() => new KeyedMutex({ engine, minHold: 10 }), {
      message: /^the keyed mutex exists with another maxHold or minHold: /,
    })
    assert.deepEqual([a.isLocked(), keyed.size], [false, 0])
  })

  it('have the diagnostics of the first that has some, and count from then on', async () => {
    const plain = new KeyedMutex({ engine, name: 'd' })
    const release = await plain.acquire('a')
    const counted = new KeyedMutex({ engine, name: 'd', diagnostics: 'counters' })
    const full = new KeyedMutex({ engine, name: 'd', diagnostics: true })
    release()
    ;(await plain.acquire('a'))()
    const held = await full.acquire('a')
    const [{ holders }] = counted.snapshot()
    assert.deepEqual([holders.length, holders[0].stack], [1, undefined])
    held()
    const { locks } = await snapshot()
    const [{ totals }] = locks.filter(({ name, key }) => name === 'd' && key === undefined)
    assert.equal(totals.acquisitions, 2)
  })

  it('say that a holder came before the diagnostics', async () => {
    const release = await new Mutex({ engine, name: 'e' }).acquire()
    const watched = new Mutex({ engine, name: 'e', diagnostics: true })
    await assert.rejects(watched.acquire({ timeout: 20 }), {
      message: /; it is held by a caller that came before its diagnostics$/,
    })
    release()
  })

  it('keep strict order from the first one with fairness on', async () => {
    const plain = new Mutex({ engine, name: 'f' })
    const release = await plain.acquire()
    const strict = { name: 'f', fairness: 'fifo' }
    const fifo = new Mutex({ engine, ...strict })
    const there = new Mutex({ engine: await world.newEngine(), ...strict })
    const order = []
    const all = [there.runExclusive(() => order.push('there'))]
    await world.clock.settle()
    for (let i = 0; i < 3; i++) all.push(fifo.runExclusive(() => order.push('here')))
    await world.clock.settle()
    release()
    await world.clock.until(Promise.all(all))
    assert.deepEqual(order, ['there', 'here', 'here', 'here'])
  })

  it('of which one has got diagnostics during a hold let its reader upgrade', async () => {
    const lock = new RWLock({ engine, name: 'u' })
    const reader = await lock.acquireRead()
    const watched = new RWLock({ engine, name: 'u', diagnostics: true })
    const writer = await reader.upgrade()
    assert.equal(watched.snapshot().holders.length, 1)
    writer()
    assert.deepEqual(watched.snapshot().holders, [])
  })

  it('refuse an upgrade beside another one, as any that is not available', async () => {
    const lock = new RWLock({ engine, name: 'if available' })
    const [one, two] = [await lock.acquireRead(), await lock.acquireRead()]
    const upgraded = one.upgrade()
    assert.equal(await two.upgrade({ ifAvailable: true }), undefined)
    two()
    ;(await upgraded)()
  })
})

describe('A lock over an engine whose maxHold may end a hold keeps the process alive', () => {
  const world = fakeWorld()
  const never = new Promise(() => {})

  it('while a reader waits to upgrade', async () => {
    const lock = new RWLock({ engine: await world.newEngine(), name: 'up', maxHold: 20_000 })
    await lock.acquireRead()
    await world.clock.pass(5000)
    const reader = await lock.acquireRead()
    const upgraded = reader.upgrade()
    await world.clock.settle()
    assert.equal(world.clock.keepsAlive(), true)
    const writer = await world.clock.until(upgraded)
    writer()
    assert.equal(world.clock.keepsAlive(), false)
  })

  for (const [name, make] of Object.entries({
    RecursiveMutex: (options) => {
      const mutex = new RecursiveMutex(options)
      return (work) => mutex.runExclusive(work)
    },
    'reentrant KeyedMutex': (options) => {
      const locks = new KeyedMutex({ ...options, reentrant: true })
      return (work) => locks.runExclusive('a', work)
    },
  })) {
    it(`while callers wait inside a hold of a ${name}`, async () => {
      const engine = await world.newEngine()
      const enter = make({ engine, name: 'inside', maxHold: 20_000 })
      let inner
      enter(() => {
        enter(() => never)
        inner = enter(() => 'in')
        return never
      })
      await world.clock.settle()
      assert.ok(await isPending(inner))
      assert.equal(world.clock.keepsAlive(), true)
      assert.equal(await world.clock.until(inner), 'in')
    })
  }
})
