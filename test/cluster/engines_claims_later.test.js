'use strict'
// A claim is confirmed by the renewing thread, and not at all when its caller releases soon.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedSemaphore } = require('../..')
const { lookEvery } = require('../../lib/cluster/claim_watch.js')
const { slots } = require('../../lib/cluster/claims.js')
const { timedWorld } = require('./helpers/fake_world.js')

/** So short that the renewing thread opens the session, and can confirm from then on. */
const ttl = 1500
/** By then the thread has looked twice. */
const twoLooks = 2 * lookEvery + 5

describe('Claims that the renewing thread confirms', () => {
  const world = timedWorld()
  const { newEngine, count } = world
  const never = new Promise(() => {})
  const counts = () => [count('confirmByKeeper'), count('confirm')]

  beforeEach(() => {
    world.server.keepersConfirm = true
  })

  /** Two engines that share a key: the first one holds it, the second one waits. */
  async function pair(options, { key = 'key', change } = {}) {
    const engines = [await newEngine({ ttl }), await newEngine({ ttl, ...options }, change)]
    const [a, b] = engines.map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire(key)
    const next = b.acquire(key)
    await world.queued()
    world.server.commands = []
    return { a, b, engine: engines[1], release, next }
  }

  /** The waiter's grant. */
  async function handedOver(...how) {
    const { release, next, ...rest } = await pair(...how)
    release()
    return { granted: await next, ...rest }
  }

  const isLost = (granted) =>
    world.clock.until(new Promise((resolve) => granted.signal.addEventListener('abort', resolve)))

  it('need no command when they are released soon', async () => {
    const { a, granted } = await handedOver()
    granted()
    await world.clock.pass(1000)
    assert.deepEqual(world.server.commands, ['leave', 'leave'])
    ;(await a.acquire('key', { timeout: 1000 }))()
  })

  it('last for maxHold once the thread has confirmed them', async () => {
    const { granted } = await handedOver({ maxHold: 5000 })
    await world.clock.pass(1300)
    assert.deepEqual(counts(), [1, 0])
    assert.equal(granted.signal.aborted, false)
    await isLost(granted)
    assert.match(granted.signal.reason.message, /longer than maxHold/)
  })

  it('are confirmed by the event loop when the thread has failed to', async () => {
    const { keeper } = world.server
    world.server.keeper = () => ({
      ...keeper.call(world.server),
      confirm: async () => {
        throw new Error('cut')
      },
    })
    const { granted } = await handedOver({ maxHold: 5000 })
    await world.clock.pass(1300)
    assert.deepEqual(counts(), [0, 1])
    assert.equal(granted.signal.aborted, false)
    granted()
  })

  it('are confirmed by a later attempt of the thread when the event loop cannot', async () => {
    const { keeper } = world.server
    let failures = 0
    world.server.keeper = () => {
      const own = keeper.call(world.server)
      return {
        ...own,
        confirm: (request) =>
          failures++ < 3 ? Promise.reject(new Error('cut')) : own.confirm(request),
      }
    }
    const { granted } = await handedOver(
      { maxHold: 5000 },
      { change: () => ({ confirm: () => never }) },
    )
    await world.clock.pass(1300)
    assert.equal(failures, 4)
    assert.equal(granted.signal.aborted, false)
    granted()
  })

  it('end maxHold after the grant, whoever confirms them', async () => {
    const engines = [await newEngine({ ttl }), await newEngine({ ttl })]
    for (const maxHold of [500, 3000]) {
      const [a, b] = engines.map(
        (engine) => new KeyedMutex({ engine, name: `${maxHold}`, maxHold }),
      )
      const release = await a.acquire('key')
      const next = b.acquire('key')
      await world.queued()
      world.server.commands = []
      release()
      const granted = await next
      const start = world.clock.now()
      await isLost(granted)
      assert.ok(world.clock.now() - start <= maxHold)
      assert.deepEqual(counts(), maxHold < 1000 ? [0, 1] : [1, 0])
      granted()
      ;(await world.clock.until(a.acquire('key', { timeout: 1000 })))()
    }
  })

  it('are confirmed by the event loop when the thread has no answer', async () => {
    const { keeper } = world.server
    world.server.keeper = () => ({ ...keeper.call(world.server), confirm: () => never })
    const { granted } = await handedOver({ maxHold: 5000 })
    await world.clock.pass(1300)
    assert.deepEqual(counts(), [0, 1])
    assert.equal(granted.signal.aborted, false)
    granted()
  })

  it('leave nothing held at the server if the answer to the thread is late', async () => {
    for (const fails of [false, true]) {
      const { a, granted } = await handedOver({ ttl: 60_000, maxHold: 3_600_000 })
      // Opened by the event loop: the thread has to renew once.
      granted()
      await world.clock.pass(30_000)
      const release = await a.acquire('key')
      const next = new KeyedMutex({ engine: world.engines.at(-1) }).acquire('key')
      await world.queued()
      let answer
      world.server.slowAnswer = new Promise((resolve, reject) => {
        answer = fails ? () => reject(new Error('cut')) : resolve
      })
      world.server.slowAnswer.catch(() => {})
      world.server.commands = []
      release()
      const again = await next
      await isLost(again)
      assert.equal(count('confirmByKeeper'), 1)
      assert.match(again.signal.reason.message, /not confirmed in time/)
      world.server.slowAnswer = undefined
      answer()
      again()
      const other = await world.clock.until(a.acquire('key', { timeout: 10_000 }))
      assert.equal(other.abandoned, true)
      other()
    }
  })

  it('may be released while the thread confirms', async () => {
    const { a, granted } = await handedOver()
    let answer
    world.server.slowAnswer = new Promise((resolve) => {
      answer = resolve
    })
    await world.clock.pass(twoLooks)
    assert.deepEqual(counts(), [1, 0])
    granted()
    world.server.slowAnswer = undefined
    answer()
    const other = await world.clock.until(a.acquire('key', { timeout: 1000 }))
    assert.equal(other.abandoned, false)
    other()
  })

  it('abort their signal at once if the server answers that they are over', async () => {
    const { granted } = await handedOver()
    for (const { holders } of world.server.keys.values()) holders.clear()
    await world.clock.pass(twoLooks)
    assert.equal(granted.signal.aborted, true)
    assert.equal(granted.signal.reason.code, 'ERR_LOCK_LOST')
    granted()
  })

  it('are confirmed at once by the event loop while the thread has no connection', async () => {
    const { release, next } = await pair()
    world.server.trouble = Promise.reject(new Error('down'))
    world.server.trouble.catch(() => {})
    // A renewal fails, and the session is still safe.
    await world.clock.pass(ttl / 2)
    world.server.trouble = undefined
    release()
    const granted = await next
    assert.deepEqual(counts(), [0, 1])
    granted()
  })

  it('are confirmed at once by the event loop if the key is too long for the memory', async () => {
    const { granted } = await handedOver({}, { key: 'x'.repeat(600) })
    assert.deepEqual(counts(), [0, 1])
    granted()
  })

  it('are confirmed at once by the event loop if the thread might be too late', async () => {
    const change = (driver) => ({
      listen: (session, listener) =>
        driver.listen(session, {
          ...listener,
          granted: (...words) => setTimeout(listener.granted, 480, ...words),
        }),
    })
    const { release, next } = await pair({}, { change })
    release()
    const granted = await world.clock.until(next)
    assert.deepEqual(counts(), [0, 1])
    granted()
  })

  it('keep no process alive', async () => {
    const { granted } = await handedOver({ maxHold: 5000 })
    assert.equal(world.clock.keepsAlive(), false)
    granted()
  })

  it('are confirmed at once when the thread has no room for more', async () => {
    const [one, two] = [await newEngine({ ttl }), await newEngine({ ttl })]
    const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine }))
    const keys = Array.from({ length: slots + 5 }, (_, i) => `key ${i}`)
    const releases = await Promise.all(keys.map((key) => a.acquire(key)))
    const nexts = keys.map((key) => b.acquire(key))
    await world.queued(keys.length)
    for (const release of releases) release()
    const granted = await Promise.all(nexts)
    assert.equal(count('confirm'), 5)
    await world.clock.pass(twoLooks)
    assert.deepEqual(counts(), [slots, 5])
    for (const release of granted) release()
    // All of it is free again.
    world.server.commands = []
    const later = await Promise.all(keys.slice(5).map((key) => a.acquire(key)))
    const again = keys.slice(5).map((key) => b.acquire(key))
    await world.queued(slots)
    for (const release of later) release()
    for (const release of await Promise.all(again)) release()
    assert.deepEqual(counts(), [0, 0])
  })

  it('end with the engine', async () => {
    const { a, engine, granted } = await handedOver()
    await world.clock.until(engine.close())
    assert.equal(granted.signal.aborted, true)
    ;(await world.clock.until(a.acquire('key', { timeout: 1000 })))()
    assert.deepEqual(counts(), [0, 0])
  })

  it('are lost with the thread', async () => {
    let thread
    const { startThread } = world.outside
    world.outside.startThread = (...args) => {
      thread = startThread(...args)
      return thread
    }
    const { a, granted } = await handedOver()
    world.server.slowAnswer = never
    await world.clock.pass(twoLooks)
    thread.postMessage('end')
    await world.clock.settle()
    assert.equal(granted.signal.reason.code, 'ERR_LOCK_LOST')
    assert.match(granted.signal.reason.message, /thread that renews has ended/)
    world.server.slowAnswer = undefined
    granted()
    ;(await world.clock.until(a.acquire('key', { timeout: 10_000 })))()
  })

  it('may be of several units', async () => {
    const [one, two] = [await newEngine({ ttl }), await newEngine({ ttl })]
    const [a, b] = [one, two].map((engine) => new KeyedSemaphore(4, { engine }))
    const [, release] = await a.acquire('key', { weight: 4 })
    const next = b.acquire('key', { weight: 3 })
    await world.queued()
    release()
    const [, granted] = await next
    await world.clock.pass(twoLooks)
    assert.deepEqual(counts(), [1, 0])
    const [, other] = await a.acquire('key', { timeout: 1000 })
    other()
    granted()
    const [, last] = await world.clock.until(a.acquire('key', { weight: 4, timeout: 1000 }))
    last()
  })
})
