'use strict'
// Failures between an engine and its server, with a server in memory: lib/cluster.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { Worker } = require('node:worker_threads')
const { KeyedMutex } = require('../..')
const { now } = require('../../lib/cluster/clock.js')
const { Engine } = require('../../lib/cluster/engine.js')
const { fakeWorld } = require('./helpers/fake_world.js')
const { calmIt } = require('../helpers/calm.js')

// Sessions and leases of some hundred milliseconds expire if this process stalls.
const it = calmIt(15)

describe('Locks over an engine in trouble', () => {
  const world = fakeWorld()
  const { newEngine, count } = world

  it('give back late grants', async () => {
    const [one, two] = [await newEngine(), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    let answer
    world.server.trouble = new Promise((resolve) => {
      answer = resolve
    })
    await assert.rejects(a.acquire('key', { timeout: 20 }), { code: 'ERR_LOCK_ENGINE' })
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
    await sleep(20)
    const controller = new AbortController()
    const late = mutex.acquire('key', { signal: controller.signal })
    const rejected = assert.rejects(Promise.race([late, sleep(1000)]), { message: 'enough' })
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
    world.server.slowAnswer = sleep(400)
    const late = a.acquire('key')
    await sleep(350)
    const other = await b.acquire('key')
    world.server.slowAnswer = undefined
    await sleep(100)
    let isIn = false
    late.then(() => {
      isIn = true
    })
    await sleep(50)
    assert.equal(isIn, false)
    other()
    ;(await late)()
  })

  it('report the ends of leases in their order', async () => {
    const [one, two] = [await newEngine({ ttl: 800, maxHold: 800 }), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const order = []
    world.server.slowAnswer = sleep(400)
    const first = a.acquire('first').then((release) => {
      // At once: any further wait may take longer than this lease.
      release.signal.addEventListener('abort', () => order.push('lost'))
    })
    await sleep(350)
    world.server.slowAnswer = undefined
    await a.acquire('second')
    await first
    const next = await b.acquire('first')
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
    await sleep(50)
    world.server.trouble = new Promise(() => {})
    await assert.rejects(waiting, { code: 'ERR_LOCK_ENGINE' })
    world.server.trouble = undefined
  })

  it('give back a grant of a stuck server that was told of the end before', async () => {
    const late = []
    const driver = world.server.driver()
    const one = new Engine({
      ...driver,
      enter: async (request) => {
        late.push(() => driver.enter(request))
        throw new Error('stuck')
      },
    })
    world.engines.push(one)
    const [a, b] = [one, await newEngine()].map((engine) => new KeyedMutex({ engine }))
    await assert.rejects(a.acquire('key', { timeout: 2000 }), { code: 'ERR_LOCK_ENGINE' })
    while (count('leave') === 0) await sleep(1)
    const { state } = await late[0]()
    assert.equal(state, 'held')
    ;(await b.acquire('key', { timeout: 5000 }))()
  })

  it('recover when a session was lost during a wait', async () => {
    const [one, two] = [await newEngine({ ttl: 300, maxHold: 5000 }), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const release = await b.acquire('key')
    const waiting = a.acquire('key')
    await sleep(20)
    world.server.sessions.clear()
    await sleep(400)
    release()
    ;(await waiting)()
  })

  it('end for holders that know of the loss, and are available to others', async () => {
    const [one, two] = [await newEngine({ ttl: 300, maxHold: 5000 }), await newEngine()]
    const [a, b] = [new KeyedMutex({ engine: one }), new KeyedMutex({ engine: two })]
    const release = await a.acquire('key')
    const next = a.acquire('key')
    const lost = once(release.signal, 'abort')
    world.server.sessions.clear()
    await lost
    assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
    assert.match(release.signal.reason.message, /the server has ended it/)
    const other = await b.acquire('key')
    assert.equal(other.abandoned, true)
    release()
    other()
    const last = await next
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
