'use strict'
// The start of an engine (lib/cluster/start.js): what its time counts against, and ready().
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { KeyedMutex, KeyedSemaphore, LeaderElection } = require('../..')
const { Mutex, RWLock, Semaphore } = require('../..')
const { inChild } = require('../helpers/children.js')
const { timedWorld } = require('./helpers/fake_world.js')
const { gate } = require('./helpers/gate.js')
const { warningsOf } = require('../helpers/warnings.js')

const never = new Promise(() => {})
/** The limit of a start, in ms. */
const longestStart = 30_000

describe('The start of an engine', () => {
  const world = timedWorld()

  /** An engine whose start lasts until `gate` opens. */
  function starting(options, change = () => ({})) {
    const it = gate()
    const engine = world.engineOver(options, (driver) => ({
      async listen(...args) {
        await it.opened
        return driver.listen(...args)
      },
      ...change(driver),
    }))
    return { ...it, engine }
  }

  const ways = {
    Mutex: (engine, limits) => new Mutex({ engine, name: 'a' }).acquire(limits),
    Semaphore: (engine, limits) => new Semaphore(2, { engine, name: 'a' }).acquire(limits),
    RWLock: (engine, limits) => new RWLock({ engine, name: 'a' }).acquireRead(limits),
    KeyedMutex: (engine, limits) => new KeyedMutex({ engine }).acquire('a', limits),
    'KeyedMutex, several keys': (engine, limits) =>
      new KeyedMutex({ engine }).acquire(['a', 'b'], limits),
    KeyedSemaphore: (engine, limits) => new KeyedSemaphore(2, { engine }).acquire('a', 1, limits),
  }
  for (const [name, take] of Object.entries(ways)) {
    it(`does not count against a timeout, for ${name}`, async () => {
      const { engine, open } = starting({ answerTimeout: 100 })
      const wait = take(engine, { timeout: 20 })
      await world.clock.pass(10_000)
      open()
      assert.ok(await world.clock.until(wait))
    })

    it(`does not count against answerTimeout, for ${name}`, async () => {
      const { engine, open } = starting({ answerTimeout: 100 })
      const wait = take(engine)
      await world.clock.pass(10_000)
      open()
      assert.ok(await world.clock.until(wait))
    })
  }

  it('includes the start of the renewing thread', async () => {
    const { opened, open } = gate()
    world.server.trouble = opened
    const engine = world.engineOver({ answerTimeout: 100 })
    const wait = new Mutex({ engine, name: 'a' }).acquire({ timeout: 20 })
    await world.clock.pass(5000)
    world.server.trouble = undefined
    open()
    await world.clock.until(wait)
  })

  it('does not count for a caller that does not wait', async () => {
    const { engine, open } = starting({ answerTimeout: 100 })
    const mutex = new KeyedMutex({ engine })
    const [now, available] = [{ timeout: 0 }, { ifAvailable: true }].map((limits, i) =>
      mutex.acquire(i, limits),
    )
    await world.clock.pass(10_000)
    open()
    const releases = await world.clock.until(Promise.all([now, available]))
    assert.equal(await world.clock.until(mutex.acquire(0, { ifAvailable: true })), undefined)
    for (const release of releases) release()
  })

  it('is followed by the whole timeout', async () => {
    const other = await world.newEngine()
    await new Mutex({ engine: other, name: 'a' }).acquire()
    const { engine, open } = starting()
    const wait = new Mutex({ engine, name: 'a' }).acquire({ timeout: 20 })
    await world.clock.pass(10_000)
    open()
    await world.clock.settle()
    const start = world.clock.now()
    await assert.rejects(world.clock.until(wait), { code: 'ERR_LOCK_TIMEOUT' })
    assert.ok(world.clock.now() - start >= 20)
  })

  it('ends for a caller whose signal aborts, who leaves nothing behind', async () => {
    const { engine, open } = starting()
    const mutex = new Mutex({ engine, name: 'a' })
    const reason = new Error('gone')
    const controller = new AbortController()
    const wait = mutex.acquire({ timeout: 20, signal: controller.signal })
    await world.clock.pass(1000)
    controller.abort(reason)
    await assert.rejects(wait, reason)
    open()
    await world.clock.settle()
    assert.ok(await mutex.acquire({ ifAvailable: true }))
  })

  it('has a limit of its own, and an error that does not blame the server', async () => {
    const { engine } = starting({ answerTimeout: 100 })
    const start = world.clock.now()
    const waits = [{ timeout: 20 }, undefined].map((limits) =>
      assert.rejects(new KeyedMutex({ engine }).acquire('a', limits), {
        code: 'ERR_LOCK_ENGINE',
        message:
          'the session with Fake is still starting after 30000 ms: this machine may be overloaded; await engine.ready() when the process starts',
      }),
    )
    await world.clock.until(Promise.all(waits))
    assert.ok(world.clock.now() - start >= longestStart)
  })

  it('counts in full if it fails', async () => {
    const cause = new Error('connect ECONNREFUSED')
    const { engine, fail } = starting({ answerTimeout: 100 })
    const mutex = new KeyedMutex({ engine })
    const start = world.clock.now()
    const late = (time) => ({
      code: 'ERR_LOCK_ENGINE',
      cause,
      message: `Fake has not answered for the mutex of key "a" within ${time} ms: ${cause.message}`,
    })
    const waits = [{ timeout: 50 }, undefined].map((limits) => mutex.acquire('a', limits))
    await world.clock.pass(30)
    fail(cause)
    await assert.rejects(world.clock.until(waits[0]), late(50))
    assert.ok(world.clock.now() - start < 60)
    await assert.rejects(world.clock.until(waits[1]), late(100))
    assert.ok(world.clock.now() - start < 110)
  })

  it('ends waits whose time it has used up when it fails, by no timer of less than 0 ms', async () => {
    const { engine, fail } = starting({ answerTimeout: 1000 })
    const wait = new Mutex({ engine, name: 'a' }).acquire({ timeout: 20 })
    await world.clock.pass(30)
    const { setTimeout } = globalThis
    const times = []
    globalThis.setTimeout = (callback, time, ...args) => {
      times.push(time)
      return setTimeout(callback, time, ...args)
    }
    try {
      fail(new Error('connect ECONNREFUSED'))
      await assert.rejects(world.clock.until(wait), { code: 'ERR_LOCK_ENGINE' })
    } finally {
      globalThis.setTimeout = setTimeout
    }
    assert.deepEqual(
      times.filter((time) => time < 0),
      [],
    )
  })

  it('counts at once for callers that come while the server is known to be away', async () => {
    const { engine, fail } = starting({ answerTimeout: 100 })
    fail(new Error('connect ECONNREFUSED'))
    const mutex = new KeyedMutex({ engine })
    await assert.rejects(world.clock.until(mutex.acquire('a')), { code: 'ERR_LOCK_ENGINE' })
    const start = world.clock.now()
    const wait = mutex.acquire('a', { timeout: 20 })
    await assert.rejects(world.clock.until(wait), { code: 'ERR_LOCK_ENGINE' })
    assert.ok(world.clock.now() - start < 30)
  })

  it('ends no election by lasting for longer than its limit', async () => {
    const { engine, open } = starting()
    const election = new LeaderElection({ engine, name: 'a' })
    const led = election.lead(() => 'led')
    const warnings = await warningsOf('BOXOFFICE_ELECTION_UNANSWERED', () =>
      world.clock.pass(longestStart + 1000),
    )
    assert.match(warnings[0].message, /goes on without an answer: .* is still starting after/)
    open()
    assert.equal(await world.clock.until(led), 'led')
    await election.close()
  })

  it('is over with the first session: another one counts', async () => {
    let isAway = false
    const engine = await world.newEngine({ ttl: 300 }, (driver) => ({
      listen: (...args) => (isAway ? never : driver.listen(...args)),
    }))
    isAway = true
    world.server.trouble = never
    world.clock.skip(1000)
    const start = world.clock.now()
    const wait = new Mutex({ engine, name: 'a' }).acquire({ timeout: 20 })
    await assert.rejects(world.clock.until(wait), {
      code: 'ERR_LOCK_ENGINE',
      message: /Fake has not answered for the mutex "a" within 20 ms; check that the server runs/,
    })
    assert.ok(world.clock.now() - start < 30)
    world.server.trouble = undefined
  })
})

describe('engine.ready()', () => {
  const world = timedWorld()

  it('opens the session, which the first lock uses', async () => {
    let count = 0
    const engine = world.engineOver({}, (driver) => ({
      listen(...args) {
        count++
        return driver.listen(...args)
      },
    }))
    assert.equal(await engine.ready(), undefined)
    assert.equal(world.server.sessions.size, 1)
    await Promise.all([engine.ready({ timeout: 0 }), engine.ready({ timeout: 5 })])
    ;(await new Mutex({ engine, name: 'a' }).acquire({ timeout: 5 }))()
    assert.equal(count, 1)
  })

  it('rejects with the reason of the first attempt that fails, and may be called again', async () => {
    const cause = new Error('WRONGPASS invalid username-password pair')
    let fault = cause
    const engine = world.engineOver({}, (driver) => ({
      listen: (...args) => (fault ? Promise.reject(fault) : driver.listen(...args)),
    }))
    await assert.rejects(engine.ready(), {
      code: 'ERR_LOCK_ENGINE',
      cause,
      message: `the session with Fake could not be opened: ${cause.message}`,
    })
    fault = Object.assign(new Error('another protocol'), { code: 'ERR_LOCK_ENGINE_VERSION' })
    await assert.rejects(engine.ready(), fault)
    fault = undefined
    await engine.ready()
  })

  it('rejects with the reason of the renewing thread', async () => {
    const cause = new Error('WRONGPASS')
    const engine = world.engineOver()
    world.server.renew = () => Promise.reject(cause)
    await assert.rejects(engine.ready(), { code: 'ERR_LOCK_ENGINE', message: /opened: WRONGPASS$/ })
  })

  it('rejects when its timeout is over', async () => {
    const engine = world.engineOver({}, () => ({ listen: () => never }))
    for (const [limits, time] of [
      [{ timeout: 50 }, 50],
      [undefined, longestStart],
    ]) {
      const start = world.clock.now()
      await assert.rejects(world.clock.until(engine.ready(limits)), {
        code: 'ERR_LOCK_ENGINE',
        message: new RegExp(`the session with Fake is still starting after ${time} ms: this mach`),
      })
      assert.ok(world.clock.now() - start >= time)
    }
  })

  it('rejects with the reason of its signal', async () => {
    const engine = world.engineOver({}, () => ({ listen: () => never }))
    const reason = new Error('gone')
    const controller = new AbortController()
    const { signal } = controller
    const waiting = engine.ready({ signal })
    await world.clock.settle()
    controller.abort(reason)
    await assert.rejects(waiting, reason)
    await assert.rejects(engine.ready({ signal }), reason)
  })

  it('rejects if the engine is closed, before or meanwhile', async () => {
    const { opened, open } = gate()
    const engine = world.engineOver({}, () => ({ listen: () => opened }))
    const waiting = engine.ready()
    await world.clock.settle()
    await engine.close()
    open()
    for (const one of [waiting, engine.ready()])
      await assert.rejects(one, { code: 'ERR_LOCK_ENGINE', message: /has been closed/ })
    assert.equal(world.server.sessions.size, 0)
  })

  it('rejects options that are no limits', async () => {
    const engine = world.engineOver()
    for (const options of [null, 5, { timeout: '5s' }, { signal: {} }, { priority: 1 }])
      await assert.rejects(engine.ready(options), { name: 'TypeError' })
    await assert.rejects(engine.ready({ timeout: -1 }), { name: 'RangeError' })
    assert.equal(world.server.sessions.size, 0)
  })

  it('starts its thread where NODE_OPTIONS says that evaluated code is an ES module', () => {
    const env = { ...process.env, NODE_OPTIONS: '--input-type=module' }
    const file = require.resolve('./helpers/ready_alone.js')
    assert.equal(execFileSync(process.execPath, [file], { env, encoding: 'utf8' }), 'ready\n')
  })

  it('keeps the process alive until it settles', async () => {
    const shown = await inChild(`
      const { Engine } = require('boxoffice/engine')
      const never = async () => {}
      const engine = new Engine({
        name: 'None', keeper: { module: '', data: null }, listen: () => new Promise(() => {}),
        enter: never, leave: never, end: never, close: never,
      })
      await engine.ready({ timeout: 50 }).catch(({ code }) => show(code))`)
    assert.deepEqual(shown, ['ERR_LOCK_ENGINE'])
  })
})
