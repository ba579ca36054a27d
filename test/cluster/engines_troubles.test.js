'use strict'
// Failures between an engine and its server, with a server in memory: lib/cluster.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { queryObjects } = require('node:v8')
const { Worker } = require('node:worker_threads')
const { KeyedMutex } = require('../..')
const { now } = require('../../lib/cluster/clock.js')
const { hubOf } = require('../../lib/cluster/engine.js')
const { Lease } = require('../../lib/cluster/lease.js')
const { collect } = require('../helpers/heap.js')
const { watch } = require('../helpers/promises.js')
const { timedWorld } = require('./helpers/fake_world.js')
const { LocalThread } = require('./helpers/local_thread.js')

describe('Locks over an engine in trouble', () => {
  const world = timedWorld()
  const { newEngine, count } = world

  it('give back late grants', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    let answer
    world.server.trouble = new Promise((resolve) => {
      answer = resolve
    })
    const late = a.acquire('key', { timeout: 20 })
    await assert.rejects(world.clock.until(late), { code: 'ERR_LOCK_ENGINE' })
    world.server.trouble = undefined
    answer()
    ;(await b.acquire('key', { timeout: 2000 }))()
    assert.equal(a.size, 0)
  })

  it('notice a signal aborted after the local queue has admitted them', async () => {
    const mutex = new KeyedMutex({ engine: await newEngine(), fairness: 'fifo' })
    const other = new KeyedMutex({ engine: await newEngine() })
    const release = await mutex.acquire('key')
    const theirs = other.acquire('key')
    await world.queued()
    const controller = new AbortController()
    const late = mutex.acquire('key', { signal: controller.signal })
    const rejected = assert.rejects(late, { message: 'enough' })
    release()
    controller.abort(new Error('enough'))
    const held = await theirs
    await rejected
    held()
    ;(await other.acquire('key', { timeout: 1000 }))()
    assert.equal(mutex.size, 0)
  })

  it('hold nothing by an answer that arrives after its lease is over', async () => {
    const [one, two] = [
      await newEngine({ ttl: 300, maxHold: 300, answerTimeout: 5000 }),
      await newEngine(),
    ]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    world.server.slowAnswer = world.clock.after(400)
    const late = watch(a.acquire('key'))
    await world.clock.pass(350)
    world.server.slowAnswer = undefined
    const other = await b.acquire('key')
    await world.clock.pass(100)
    assert.equal(late.state, 'pending')
    other()
    await world.clock.settle()
    late.value()
  })

  it('report the ends of leases in their order', async () => {
    const [one, two] = [await newEngine({ ttl: 800, maxHold: 800 }), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const order = []
    // So the ends of leases are not those of sessions.
    await world.clock.pass(100)
    world.server.slowAnswer = world.clock.after(400)
    const first = a.acquire('first')
    await world.clock.pass(350)
    world.server.slowAnswer = undefined
    await a.acquire('second')
    const release = await world.clock.until(first)
    release.signal.addEventListener('abort', () => order.push('lost'))
    const next = await world.clock.until(b.acquire('first'))
    order.push('next')
    assert.deepEqual(order, ['lost', 'next'])
    next()
  })

  it('reject callers that wait for others when the server falls silent', async () => {
    const [one, two] = [
      await newEngine({ ttl: 300, maxHold: 300, answerTimeout: 1000 }),
      await newEngine({ ttl: 300, maxHold: 300 }),
    ]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    await b.acquire('key')
    const waiting = a.acquire('key')
    await world.queued()
    world.server.trouble = new Promise(() => {})
    await assert.rejects(world.clock.until(waiting), { code: 'ERR_LOCK_ENGINE' })
  })

  it('give back a grant of a stuck server that was told of the end before', async () => {
    const late = []
    const change = (driver) => ({
      async enter(request) {
        late.push(() => driver.enter(request))
        throw new Error('stuck')
      },
    })
    const one = world.engineOver({}, change)
    const [a, b] = [one, await newEngine()].map((engine) => new KeyedMutex({ engine }))
    const asked = a.acquire('key', { timeout: 2000 })
    await assert.rejects(world.clock.until(asked), { code: 'ERR_LOCK_ENGINE' })
    await world.clock.settle()
    assert.equal(count('leave'), 1)
    const { state } = await late[0]()
    assert.equal(state, 'held')
    ;(await world.clock.until(b.acquire('key', { timeout: 5000 })))()
  })

  it('report a lost holder although a late command has got its grant', async () => {
    const late = []
    const change = (driver) => ({
      async enter(request) {
        if (late.length > 0) return driver.enter(request)
        late.push(() => driver.enter(request))
        throw new Error('stuck')
      },
    })
    const [one, two] = [world.engineOver({}, change), await newEngine()]
    const [a, b] = [one, two].map(
      (engine) => new KeyedMutex({ engine, name: 'short', maxHold: 200 }),
    )
    const release = await world.clock.until(a.acquire('key'))
    release()
    await a.onIdle()
    const lost = await b.acquire('key')
    await world.clock.until(once(lost.signal, 'abort'))
    // The engine tells the server of the release once more a second after it.
    await world.clock.pass(700)
    const { state, abandoned } = await late[0]()
    assert.deepEqual([state, abandoned], ['held', true])
    const next = await world.clock.until(b.acquire('key', { timeout: 5000 }))
    assert.equal(next.abandoned, true)
    next()
  })

  for (const mayForget of [true, false]) {
    const what = mayForget ? 'repeat' : 'do not repeat'
    it(`${what} releases that a server ${mayForget ? 'may have' : 'cannot have'} forgotten`, async () => {
      let listening
      const one = await newEngine({}, (driver) => ({
        mayForget,
        listen(session, listener) {
          listening = listener
          return driver.listen(session, listener)
        },
      }))
      const [a, b] = [one, await newEngine()].map((engine) => new KeyedMutex({ engine }))
      const release = await a.acquire('key')
      const [state] = [...world.server.keys.values()].filter(({ holders }) => holders.size > 0)
      const holders = new Map(state.holders)
      release()
      await a.onIdle()
      // A replica takes over that knows of the grant, and not of the release.
      state.holders = holders
      const next = b.acquire('key')
      await world.queued()
      world.server.trouble = Promise.reject(new Error('READONLY'))
      world.server.trouble.catch(() => {})
      listening.missed()
      await world.clock.settle()
      world.server.trouble = undefined
      await world.clock.pass(200)
      assert.equal(world.server.waiting(), mayForget ? 0 : 1)
      if (!mayForget) state.holders.clear()
      const { abandoned, release: end } = await world.clock.until(next)
      assert.equal(abandoned, false)
      end()
    })
  }

  it('are forgotten with their errors while the server cannot be told of their end', async () => {
    class Refusal extends Error {}
    const leave = () => Promise.reject(new Refusal('away'))
    const locks = new KeyedMutex({ engine: await newEngine({}, () => ({ leave })) })
    const counts = async () => {
      await collect()
      return [Lease, Refusal].map((kind) => queryObjects(kind, { format: 'count' }))
    }
    const before = await counts()
    for (let key = 0; key < 20; key++) (await locks.acquire(key))()
    await world.clock.pass(1000)
    assert.deepEqual(await counts(), before)
  })

  it('recover when a session was lost during a wait', async () => {
    const [one, two] = [await newEngine({ ttl: 300, maxHold: 5000 }), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const release = await b.acquire('key')
    const waiting = a.acquire('key')
    await world.queued()
    world.server.sessions.clear()
    await world.clock.pass(400)
    release()
    ;(await waiting)()
  })

  it('are kept if one renewal has no answer after one whose answer was slow', async () => {
    const { clock, server } = world
    const engine = await newEngine({ ttl: 900 })
    const { signal } = await new KeyedMutex({ engine }).acquire('key')
    const { renew } = server
    const delays = [295, Infinity]
    server.renew = async (...args) => {
      const delay = delays.shift()
      if (delay === Infinity) await new Promise(() => {})
      if (delay !== undefined) await clock.after(delay)
      return renew.apply(server, args)
    }
    await clock.pass(3000)
    assert.deepEqual([delays, signal.aborted], [[], false])
  })

  it('are in no trouble if a renewal fails after a later one has succeeded', async () => {
    const { clock, server } = world
    const engine = await newEngine({ ttl: 900 })
    const { renew } = server
    const delays = [350]
    server.renew = async (...args) => {
      const delay = delays.pop()
      if (delay === undefined) return renew.apply(server, args)
      await clock.after(delay)
      throw new Error('cut')
    }
    await clock.pass(700)
    assert.deepEqual([delays, hubOf(engine).trouble], [[], undefined])
  })

  it('are in no trouble if the renewal of an earlier session has no answer', async () => {
    const { clock, server } = world
    const engine = await newEngine({ ttl: 900 })
    const locks = new KeyedMutex({ engine })
    const { renew } = server
    server.renew = () => new Promise(() => {})
    await clock.pass(400)
    server.renew = renew
    server.sessions.clear()
    ;(await locks.acquire('key'))()
    await clock.pass(250)
    assert.equal(hubOf(engine).trouble, undefined)
  })

  it('end with a cause if the keeper of their session never answers', async () => {
    const engine = await newEngine({ ttl: 900 })
    const { signal } = await new KeyedMutex({ engine }).acquire('key')
    world.server.renew = () => new Promise(() => {})
    await world.clock.pass(900)
    assert.equal(signal.reason.cause?.message, 'there was no answer within 300 ms')
  })

  it('end with a cause if their keeper connects again, but cannot renew the session', async () => {
    const { clock, outside, server } = world
    outside.startThread = (_, ttl, claims) => {
      const connect = async (trouble) => ({
        ...server.keeper(),
        renew: () => {
          setImmediate(() => trouble(undefined))
          return Promise.reject(new Error('no writes'))
        },
      })
      return new LocalThread(connect, { ttl, clock, claims })
    }
    const engine = await newEngine({ ttl: 900 })
    const { signal } = await new KeyedMutex({ engine }).acquire('key')
    await clock.pass(900)
    assert.equal(signal.reason.cause?.message, 'no writes')
  })

  it('end for holders that know of the loss, and are available to others', async () => {
    const [one, two] = [await newEngine({ ttl: 300, maxHold: 5000 }), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const release = await a.acquire('key')
    const next = a.acquire('key')
    const lost = once(release.signal, 'abort')
    world.server.sessions.clear()
    await world.clock.until(lost)
    assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
    assert.match(release.signal.reason.message, /the server has ended it/)
    const other = await world.clock.until(b.acquire('key'))
    assert.equal(other.abandoned, true)
    release()
    other()
    const last = await world.clock.until(next)
    assert.equal(last.signal.aborted, false)
    last()
  })
})

describe('The clock of engines', () => {
  it("is one for all threads, even if a thread's own clock starts with the thread", async () => {
    const clock = JSON.stringify(require.resolve('../../lib/cluster/clock.js'))
    const before = now()
    const worker = new Worker(
      `performance.now = () => 0
      process.hrtime.bigint = () => 0n
      const { now } = require(${clock})
      require('node:worker_threads').parentPort.postMessage(now())`,
      { eval: true },
    )
    const [theirs] = await once(worker, 'message')
    assert.ok(before <= theirs && theirs <= now(), `${theirs} after ${before}`)
  })
})
