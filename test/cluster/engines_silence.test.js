'use strict'
// What engines do not keep silent about, nor wait for in vain: lib/cluster, with a server in memory.
const assert = require('node:assert/strict')
const { KeyedMutex, LeaderElection, Mutex, Semaphore } = require('../..')
const { hubOf } = require('../../lib/cluster/engine.js')
const { timedWorld } = require('./helpers/fake_world.js')
const { useWarnings, warningsOf } = require('../helpers/warnings.js')

const lost = async () => ({ state: 'lost' })
const refuse = () => Promise.reject(new Error('the client has quit'))

describe('A request over an engine whose answers are of no use', () => {
  const world = timedWorld()

  it('rejects where the server does not know the session that it has opened', async () => {
    let asked = 0
    const enter = () => {
      asked++
      return lost()
    }
    const engine = world.engineOver({ answerTimeout: 1000 }, () => ({ enter }))
    const wait = new Mutex({ engine, name: 'a' }).acquire()
    await assert.rejects(world.clock.until(wait), {
      code: 'ERR_LOCK_ENGINE',
      message: /does the client use another server or database\?$/,
    })
    assert.ok(asked <= 11, `asked ${asked} times`)
  })

  it('rejects where each comes after the end of the hold', async () => {
    const slow = (driver) => ({
      async enter(request) {
        const answer = await driver.enter(request)
        await world.clock.after(400)
        return answer
      },
    })
    const engine = world.engineOver({ ttl: 300, maxHold: 300, answerTimeout: 5000 }, slow)
    const wait = new Mutex({ engine, name: 'a' }).acquire()
    await assert.rejects(world.clock.until(wait), {
      code: 'ERR_LOCK_ENGINE',
      message: /its answer came after the end of the hold: 300 ms are too short$/,
    })
  })
})

describe("While the driver's queue moves on", () => {
  const world = timedWorld()

  /** Whether `start(mutex)`, whose command the server does not answer, waits for answerTimeout after the last move. */
  async function waitsOn(start) {
    let moved
    const engine = await world.newEngine({ answerTimeout: 1000 }, (driver) => ({
      listen(session, listener) {
        moved = listener.moved
        return driver.listen(session, listener)
      },
    }))
    const mutex = new Mutex({ engine, name: 'a' })
    const release = await mutex.acquire()
    world.server.trouble = new Promise(() => {})
    let error
    start(mutex, release, engine).catch((reason) => {
      error = reason
    })
    await world.clock.pass(600)
    moved()
    await world.clock.pass(1300)
    assert.equal(error, undefined)
    await world.clock.pass(100)
    assert.equal(error?.code, 'ERR_LOCK_ENGINE')
  }

  it('a request awaits its answer', async () => {
    await waitsOn((_mutex, _release, engine) => new Mutex({ engine, name: 'b' }).acquire())
  })

  it('onIdle() awaits that the server is told', async () => {
    await waitsOn((mutex, release) => {
      release()
      return mutex.onIdle()
    })
  })
})

describe('A session over an engine', () => {
  const world = timedWorld()

  it('is renewed no more once it is lost', async () => {
    const { clock, server } = world
    const engine = await world.newEngine({ ttl: 900 })
    const [session] = server.sessions.keys()
    const other = await world.newEngine({ ttl: 900 })
    const { signal } = await new KeyedMutex({ engine }).acquire('key')
    let answer
    const late = new Promise((resolve) => {
      answer = resolve
    })
    const { renew } = server
    server.renew = async (what, id, ttl) => {
      const isAlive = await renew.call(server, what, id, ttl)
      if (id === session) await late
      return isAlive
    }
    await clock.until(new Promise((resolve) => signal.addEventListener('abort', resolve)))
    assert.equal(server.isAlive(session), true)
    answer()
    const next = await clock.until(
      new KeyedMutex({ engine: other }).acquire('key', { timeout: 5000 }),
    )
    assert.equal(next.abandoned, true)
    next()
  })

  it('stays when the end of an earlier one is reported', async () => {
    const engine = await world.newEngine()
    const release = await new KeyedMutex({ engine }).acquire('key')
    hubOf(engine).sessionEnded('earlier', new Error('the server has ended it'))
    assert.equal(release.signal.aborted, false)
    release()
  })

  it('is asked for again only after a pause where the server does not know it', async () => {
    let asked = 0
    const enter = () => {
      asked++
      return lost()
    }
    const engine = world.engineOver({}, () => ({ enter }))
    const stop = new AbortController()
    const led = new LeaderElection({ engine, name: 'a' }).lead(() => {}, { signal: stop.signal })
    for (let turns = 0; turns < 10; turns++) await world.clock.settle()
    assert.equal(asked, 1)
    await world.clock.pass(1000)
    assert.ok(asked > 1 && asked <= 11, `asked ${asked} times`)
    stop.abort()
    await led
  })
})

describe('A caller of this thread over an engine', () => {
  const world = timedWorld()

  it('times out behind a holder here, though the server has just been asked for another caller', async () => {
    const engine = await world.newEngine()
    const mutex = new Mutex({ engine, name: 'a', maxHold: 60_000 })
    const release = await mutex.acquire()
    const next = mutex.acquire()
    const late = mutex.acquire({ timeout: 1000 })
    const rejected = assert.rejects(late, { code: 'ERR_LOCK_TIMEOUT' })
    await world.clock.pass(990)
    let answer
    world.server.slowAnswer = new Promise((resolve) => {
      answer = resolve
    })
    release()
    await world.clock.pass(20)
    await rejected
    answer()
    const giveBack = await next
    giveBack()
  })

  it('hears of a server that refuses its commands', async () => {
    const [engine, other] = [await world.newEngine(), await world.newEngine()]
    const release = await new Mutex({ engine: other, name: 'a' }).acquire()
    const releaseKey = await new KeyedMutex({ engine: other }).acquire('b')
    const timeout = 8000
    const late = [
      new Mutex({ engine, name: 'a' }).acquire({ timeout }),
      new KeyedMutex({ engine }).acquire(['b', 'c'], { timeout }),
    ]
    const refused = { code: 'ERR_LOCK_ENGINE', message: /ECONNREFUSED/ }
    const rejected = Promise.all(late.map((wait) => assert.rejects(wait, refused)))
    await world.clock.pass(1000)
    world.server.trouble = Promise.reject(new Error('connect ECONNREFUSED'))
    world.server.trouble.catch(() => {})
    await world.clock.pass(8000)
    await rejected
    world.server.trouble = undefined
    release()
    releaseKey()
  })

  it('hears of the class of an error without a message', async () => {
    const mutex = new Mutex({ engine: await world.newEngine(), name: 'a' })
    class TimeoutError extends Error {}
    world.server.trouble = Promise.reject(new TimeoutError())
    world.server.trouble.catch(() => {})
    const rejected = assert.rejects(mutex.acquire(), { message: /within 5000 ms: TimeoutError$/ })
    await world.clock.pass(5000)
    await rejected
  })

  it('leaves no lock of a key behind when the engine has been closed', async () => {
    const engine = await world.newEngine()
    const locks = new KeyedMutex({ engine })
    await world.clock.until(engine.close())
    const closed = { code: 'ERR_LOCK_ENGINE', message: /closed/ }
    for (let key = 0; key < 3; key++) {
      await assert.rejects(locks.acquire(`${key}`), closed)
      await assert.rejects(locks.acquire(key, { timeout: 0 }), closed)
    }
    assert.equal(locks.size, 0)
  })

  it('asks for whole milliseconds', async () => {
    const asked = []
    const enter = (driver) => ({
      enter(request) {
        asked.push(request.maxHold)
        return driver.enter(request)
      },
    })
    const engine = world.engineOver({}, enter)
    const release = await new Mutex({ engine, name: 'a', maxHold: 10_000 / 3 }).acquire()
    release()
    assert.deepEqual(asked, [3333])
  })
})

describe('A process is kept alive over an engine', () => {
  const world = timedWorld()
  const make = {
    Mutex: (engine) => new Mutex({ engine, name: 'a' }),
    Semaphore: (engine) => new Semaphore(1, { engine, name: 'a' }),
  }

  for (const [name, of] of Object.entries(make)) {
    it(`by a waiter behind a holder of its thread, whose hold has an end: ${name}`, async () => {
      const lock = of(await world.newEngine())
      await lock.acquire()
      assert.equal(world.clock.keepsAlive(), false)
      const wait = lock.acquire()
      await world.clock.settle()
      assert.equal(world.clock.keepsAlive(), true)
      lock.cancel()
      await assert.rejects(wait, { code: 'ERR_LOCK_CANCELED' })
      await world.clock.settle()
      assert.equal(world.clock.keepsAlive(), false)
    })
  }

  it('by no waiter behind a holder of its thread without an end', async () => {
    const lock = new Mutex({ engine: await world.newEngine(), name: 'a', maxHold: Infinity })
    await lock.acquire()
    const wait = lock.acquire()
    await world.clock.settle()
    assert.equal(world.clock.keepsAlive(), false)
    lock.cancel()
    await assert.rejects(wait, { code: 'ERR_LOCK_CANCELED' })
  })
})

describe('A release that the server cannot be told', () => {
  const world = timedWorld()
  const untold = 'BOXOFFICE_UNTOLD_RELEASE'
  useWarnings(untold)

  it('is warned of, once', async () => {
    const engine = await world.newEngine({ answerTimeout: 1000 }, () => ({ leave: refuse }))
    const warnings = await warningsOf(untold, async () => {
      ;(await new Mutex({ engine, name: 'a' }).acquire())()
      await world.clock.pass(5000)
    })
    assert.equal(warnings.length, 1)
    assert.match(warnings[0].message, /^Fake could not be told for 1000 ms .*: the client has quit/)
  })

  it('frees the lock with the session, unless that has another lock', async () => {
    const ttl = 2000
    const options = { ttl, answerTimeout: 1000 }
    let hasQuit = false
    const one = await world.newEngine(options, (driver) => ({
      leave: (request) => (hasQuit ? refuse() : driver.leave(request)),
    }))
    const two = await world.newEngine()
    hasQuit = true
    const [a, b] = [one, two].map((engine) => new Mutex({ engine, name: 'a', maxHold: Infinity }))
    const device = new Mutex({ engine: one, name: 'device', maxHold: Infinity })
    const other = await device.acquire()
    ;(await a.acquire())()
    const next = b.acquire()
    await world.clock.pass(10 * ttl)
    assert.equal(b.isLocked(), false)
    assert.equal(other.signal.aborted, false)
    other()
    const start = world.clock.now()
    const { abandoned, release } = await world.clock.until(next)
    assert.ok(world.clock.now() - start <= ttl)
    assert.equal(abandoned, true)
    release()
    // The thread goes on with another session.
    await world.clock.until(a.acquire({ timeout: 5000 }))
  })

  it('frees the lock with the session, though callers keep asking in vain', async () => {
    let isRefusing = false
    const change = (driver) => ({
      enter: (request) => (isRefusing ? refuse() : driver.enter(request)),
      leave: (request) => (isRefusing ? refuse() : driver.leave(request)),
    })
    const engine = await world.newEngine({ ttl: 2000, answerTimeout: 1000 }, change)
    const [a, b] = [engine, await world.newEngine()].map((one) => new KeyedMutex({ engine: one }))
    const release = await a.acquire('key')
    isRefusing = true
    release()
    const next = b.acquire('key', { timeout: 5000 })
    const rejected = []
    for (let key = 0; key < 50; key++) {
      rejected.push(assert.rejects(a.acquire(key), { code: 'ERR_LOCK_ENGINE' }))
      await world.clock.pass(100)
    }
    ;(await next)()
    await world.clock.until(Promise.all(rejected))
    isRefusing = false
  })

  it('is tried again in turn with all others, and at once when one arrives', async () => {
    let isAway = true
    let tries = 0
    const requests = new Set()
    const change = (driver) => ({
      async leave(request) {
        tries++
        requests.add(request)
        if (isAway) throw new Error('the client has quit')
        await driver.leave(request)
        requests.delete(request)
      },
    })
    const engine = await world.newEngine({ answerTimeout: 1000 }, change)
    const locks = new KeyedMutex({ engine, name: 'a' })
    const count = 50
    for (let key = 0; key < count; key++) (await locks.acquire(key))()
    await world.clock.pass(5000)
    assert.ok(requests.size >= count)
    assert.ok(tries <= requests.size + 50, `oracle: ${tries} tries in 5 s`)
    isAway = false
    await world.clock.pass(200)
    assert.equal(requests.size, 0)
  })

  it('costs no look at the other locks, of which there may be very many, before its ttl is over', async () => {
    const engine = await world.newEngine({ ttl: 2000 }, () => ({ leave: refuse }))
    const { leases } = await hubOf(engine).open()
    const { values } = leases
    let looks = 0
    leases.values = () => {
      looks++
      return values.call(leases)
    }
    ;(await new Mutex({ engine, name: 'a' }).acquire())()
    await world.clock.pass(1900)
    assert.equal(looks, 0)
  })

  for (const method of ['onIdle', 'close']) {
    it(`rejects ${method}(), which keeps the process alive until then`, async () => {
      const engine = await world.newEngine({ answerTimeout: 1000 }, () => ({ leave: refuse }))
      const mutex = new Mutex({ engine, name: 'a' })
      const keyed = new KeyedMutex({ engine })
      ;(await mutex.acquire())()
      ;(await keyed.acquire('a'))()
      for (const lock of [mutex, keyed]) {
        const ended = assert.rejects(lock[method](), {
          code: 'ERR_LOCK_ENGINE',
          message: /has not answered for the release of a lock within 1000 ms/,
        })
        await world.clock.settle()
        assert.equal(world.clock.keepsAlive(), true)
        await world.clock.until(ended)
      }
    })
  }

  it('does not keep the end of the session from the server when the engine closes', async () => {
    let hasEnded = false
    const change = (driver) => ({
      leave: () => new Promise(() => {}),
      end(session) {
        hasEnded = true
        return driver.end(session)
      },
    })
    const engine = await world.newEngine({ answerTimeout: 1000 }, change)
    await new Mutex({ engine, name: 'a' }).acquire()
    await world.clock.until(engine.close())
    assert.equal(hasEnded, true)
  })
})

describe('An engine that closes', () => {
  const world = timedWorld()

  it('is waited for by each call of close()', async () => {
    const engine = await world.newEngine()
    await new Mutex({ engine, name: 'a' }).acquire()
    let isDone = false
    const first = engine.close().then(() => {
      isDone = true
    })
    await world.clock.until(engine.close())
    assert.equal(isDone, true)
    await first
  })

  it('is closed once, though a holder closes it when it hears of the loss', async () => {
    let closes = 0
    const engine = await world.newEngine({}, (driver) => ({
      close() {
        closes++
        return driver.close()
      },
    }))
    const { signal } = await new Mutex({ engine, name: 'a' }).acquire()
    let inner
    signal.addEventListener('abort', () => {
      inner = engine.close()
    })
    await engine.close()
    await inner
    assert.equal(closes, 1)
  })

  it('is closed when its thread has ended', async () => {
    let end
    const { startThread } = world.outside
    world.outside.startThread = (...args) => {
      const thread = startThread(...args)
      const { postMessage } = thread
      thread.postMessage = (message) => {
        if (message === 'end') end = () => postMessage.call(thread, message)
        else postMessage.call(thread, message)
      }
      return thread
    }
    const engine = await world.newEngine()
    let isDone = false
    const closed = engine.close().then(() => {
      isDone = true
    })
    await world.clock.settle()
    assert.equal(isDone, false)
    end()
    await closed
  })

  it('rejects ready() by what has happened', async () => {
    const engine = world.engineOver({}, () => ({
      listen: () => Promise.reject(new Error('no connection')),
    }))
    const ready = assert.rejects(engine.ready(), {
      code: 'ERR_LOCK_ENGINE',
      message: /has been closed/,
    })
    await world.clock.until(engine.close())
    await world.clock.until(ready)
  })
})
