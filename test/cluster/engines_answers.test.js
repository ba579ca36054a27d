'use strict'
// Which answers and messages of a server an engine relies on, and for how long: lib/cluster.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { Worker } = require('node:worker_threads')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex } = require('../..')
const { timedWorld } = require('./helpers/fake_world.js')

const never = new Promise(() => {})
// Also while the clock of a test replaces the timers.
const realTimeout = globalThis.setTimeout

describe('Answers over an engine', () => {
  const world = timedWorld()
  const { newEngine } = world

  it('are not awaited any more once a message has replaced them', async () => {
    let hearing
    let isCut = false
    const one = await newEngine()
    const two = await newEngine({ answerTimeout: 800 }, (driver) => ({
      listen(session, listener) {
        hearing = listener
        return driver.listen(session, listener)
      },
      enter: (request) => (isCut ? Promise.reject(new Error('cut')) : driver.enter(request)),
    }))
    const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const next = b.acquire('key')
    await world.queued()
    isCut = true
    // Its command is never answered, but a message arrives before it gives up.
    hearing.missed()
    await world.clock.settle()
    release()
    const granted = await next
    await world.clock.pass(900)
    assert.equal(granted.signal.aborted, false)
    await assert.rejects(a.acquire('key', { timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    // The server does not seem silent to other callers either.
    const late = b.acquire('key', { timeout: 20 })
    await assert.rejects(world.clock.until(late), { code: 'ERR_LOCK_TIMEOUT' })
    granted()
    ;(await a.acquire('key', { timeout: 1000 }))()
  })

  it('say in the error of a caller that may not wait why the server grants no lock', async () => {
    const refused = { state: 'refused', reason: 'it has no quorum' }
    const engine = await newEngine({}, (driver) => ({
      enter: (request) => (request.wait ? driver.enter(request) : refused),
    }))
    const message = 'the mutex of key "key" was not available within 0 ms: it has no quorum'
    const mutex = new KeyedMutex({ engine })
    await assert.rejects(mutex.acquire('key', { timeout: 0 }), { message })
    assert.equal(await mutex.acquire('key', { ifAvailable: true }), undefined)
  })

  it('no longer say why once a message has granted the lock, even if that is lost', async () => {
    const [one, two] = [
      await newEngine(),
      await newEngine({ answerTimeout: 1000 }, (driver) => ({
        enter: async (request) => ({
          reason: 'it has no quorum',
          ...(await driver.enter(request)),
        }),
      })),
    ]
    const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine, diagnostics: true }))
    const release = await a.acquire('key')
    const next = b.acquire('key')
    await world.queued()
    release()
    const granted = await next
    const message = async () => {
      const waiting = b.acquire('key', { timeout: 50 })
      const { message } = await world.clock.until(waiting.catch((error) => error))
      return message
    }
    assert.match(await message(), /within 50 ms; it is held by the main thread/)
    const lost = once(granted.signal, 'abort')
    for (const session of world.server.sessions.keys()) world.server.end(session)
    await world.clock.until(lost)
    assert.match(await message(), /a caller of this thread has not released it, though it has lost/)
    granted()
  })

  /**
   * The answer that `answered` waits for arrives while block() blocks the event loop. Timers that were due for 500 ms
   * run before the event loop can read it.
   */
  async function unread() {
    const flag = new Int32Array(new SharedArrayBuffer(4))
    const server = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
       parentPort.once('message', () => {
         parentPort.postMessage('answer')
         Atomics.store(workerData, 0, 1)
         Atomics.notify(workerData, 0)
       })`,
      { eval: true, workerData: flag },
    )
    server.unref() // A test that fails early leaves it waiting.
    await once(server, 'online')
    let ask
    const asked = new Promise((resolve) => {
      ask = resolve
    })
    const answer = once(server, 'message')
    return {
      answered() {
        ask()
        return answer
      },
      async block() {
        await asked
        // The event loop runs timers first when it goes on.
        const timersRun = new Promise((resolve) => realTimeout(resolve, 1))
        server.postMessage('go')
        Atomics.wait(flag, 0, 0)
        await timersRun
        world.clock.block(600)
      },
    }
  }

  it('are not awaited any more once the caller has given up', async () => {
    const engine = await newEngine({ answerTimeout: 500 })
    const mutex = new KeyedMutex({ engine })
    world.server.trouble = never
    const controller = new AbortController()
    const gone = assert.rejects(mutex.acquire('key', { signal: controller.signal }))
    await world.clock.settle()
    controller.abort()
    await gone
    world.server.trouble = undefined
    const release = await mutex.acquire('key')
    const next = mutex.acquire('key')
    await world.clock.pass(600)
    release()
    ;(await next)()
  })

  it('that were lost are requested again when a message grants the lock', async () => {
    let isCut = true
    const lossy = (driver) => ({
      async enter(request) {
        const answer = await driver.enter(request)
        if (isCut && !request.key.includes('before')) throw new Error('cut')
        return answer
      },
    })
    const [a, b] = [await newEngine(), await newEngine({}, lossy)].map(
      (engine) => new KeyedMutex({ engine }),
    )
    const release = await a.acquire('key')
    const next = b.acquire('key')
    await world.queued()
    isCut = false
    release()
    ;(await next)()
  })

  it('are in time if they arrived unread while the event loop was blocked', async () => {
    const { answered, block } = await unread()
    let wait
    const engine = await newEngine({ answerTimeout: 500 }, (driver) => ({
      async enter(request) {
        const granted = await driver.enter(request)
        if (wait !== undefined) await answered()
        return granted
      },
    }))
    wait = new KeyedMutex({ engine }).acquire('key')
    await block()
    const release = await wait
    await world.clock.settle()
    assert.equal(world.count('leave'), 0)
    release()
  })

  it('are in time in the same way when an engine closes', async () => {
    const { answered, block } = await unread()
    const engine = await newEngine({ answerTimeout: 500 }, (driver) => ({
      async end(session) {
        await driver.end(session)
        await answered()
      },
    }))
    // Closed here, because afterEach() would not retry after the same error.
    world.engines.pop()
    const closed = engine.close()
    await block()
    await closed
  })

  it('to an upgrade are valid for as long as those to the claim it began with', async () => {
    const claim = 1000
    let answer
    const answered = new Promise((resolve) => {
      answer = resolve
    })
    const one = await newEngine()
    const two = await newEngine({ ttl: claim, maxHold: 5000 }, (driver) => ({
      async confirm(request) {
        const said = await driver.confirm(request)
        await answered
        return said
      },
    }))
    const [a, b] = [one, two].map((engine) => new KeyedRWLock({ engine }))
    const release = await a.acquireWrite('key')
    const next = b.acquireRead('key')
    await world.queued()
    release()
    const reader = await next
    // The server has the confirmation, and this thread has no answer to it.
    const writer = await reader.upgrade()
    answer()
    await world.clock.pass(claim + 100)
    const isIn = await a.acquireRead('key', { timeout: 0 }).then(
      () => true,
      () => false,
    )
    assert.deepEqual([isIn, writer.signal.aborted], [false, false])
    writer()
  })

  it('that could not be read in time end one session, and begin one', async () => {
    const times = { ttl: 200, maxHold: 5000 }
    const sessions = []
    const two = await newEngine(times, (driver) => ({
      listen(session, listener) {
        sessions.push(session)
        return driver.listen(session, listener)
      },
    }))
    const [a, b] = [await newEngine(times), two].map((engine) => new KeyedMutex({ engine }))
    const keys = ['one', 'two', 'three']
    for (const key of keys) await a.acquire(key)
    const waits = keys.map((key) => b.acquire(key))
    await world.queued(3)
    const before = sessions.length
    world.clock.skip(400)
    // Before any message that reports it.
    waits.push(b.acquire('four'))
    await nextTurn()
    assert.equal(sessions.length, before + 1)
    const all = await world.clock.until(Promise.all(waits))
    for (const release of all) release()
  })

  it('that end the session in the turn of a grant leave nothing locked', async () => {
    const answers = []
    let areKept = false
    const engine = await newEngine({}, (driver) => ({
      enter: async (request) => {
        const answer = await driver.enter(request)
        if (areKept) await new Promise((resolve) => answers.push(resolve))
        return answer
      },
    }))
    const mutexOf = (name) => new Mutex({ engine, name, maxHold: 20_000 })
    const [one, other] = [mutexOf('one'), mutexOf('other')]
    areKept = true
    const first = one.acquire()
    await world.clock.settle()
    world.server.sessions.clear()
    const second = other.acquire()
    await world.clock.settle()
    areKept = false
    for (const answer of answers) answer()
    const release = await first
    assert.equal(release.signal.aborted, true)
    const next = await world.clock.until(one.acquire({ timeout: 5000 }))
    next()
    ;(await world.clock.until(second))()
  })

  it('that failed before a lease was lost leave no lock to its process', async () => {
    let execute
    const [one, two] = await Promise.all([
      newEngine({}, (driver) => ({
        enter: (request) => {
          if (execute !== undefined || request.key !== 'mutex:a') return driver.enter(request)
          execute = () => driver.enter(request)
          throw new Error('the connection has been cut')
        },
      })),
      newEngine(),
    ])
    const release = await world.clock.until(
      new Mutex({ engine: one, name: 'a', maxHold: 30_000 }).acquire(),
    )
    await world.clock.pass(30_000)
    assert.equal(release.signal.aborted, true)
    // Only now the server gets the command that failed.
    await execute()
    const next = new Mutex({ engine: two, name: 'a' }).acquire({ timeout: 7000 })
    ;(await world.clock.until(next))()
  })

  it('that arrive when the engine is closed open no session', async () => {
    let listened
    const listen = () =>
      new Promise((resolve) => {
        listened = resolve
      })
    const engine = world.engineOver({}, () => ({ listen }))
    const waiting = new KeyedMutex({ engine }).acquire('key', { timeout: 1000 })
    await world.clock.settle()
    await engine.close()
    listened()
    await assert.rejects(waiting, { code: 'ERR_LOCK_ENGINE', message: /closed/ })
    assert.equal(world.server.sessions.size, 0)
  })

  it('that never come are not awaited by a closed engine', async () => {
    let isSilent = true
    const asked = []
    const engine = world.engineOver({}, () => ({ enter: () => never }))
    world.server.renew = () => new Promise((resolve) => asked.push(resolve))
    const waiting = new KeyedMutex({ engine }).acquire('key').finally(() => {
      isSilent = false
    })
    await world.clock.settle()
    assert.equal(asked.length, 1)
    const rejected = assert.rejects(waiting, { code: 'ERR_LOCK_ENGINE', message: /closed/ })
    await engine.close()
    await world.clock.settle()
    assert.equal(isSilent, false)
    await rejected
    asked[0](true)
  })

  it('of a client that is closed, too, report that the engine is closed', async () => {
    let close
    const change = () => ({
      enter: () =>
        new Promise((_, reject) => {
          close = () => reject(new Error('The client is closed'))
        }),
    })
    const engine = world.engineOver({}, change)
    const waiting = new KeyedMutex({ engine }).acquire('key')
    const rejected = assert.rejects(waiting, { code: 'ERR_LOCK_ENGINE', message: /closed/ })
    await world.clock.settle()
    await engine.close()
    close()
    await rejected
  })

  it('are requested if the driver cannot confirm a message', async () => {
    const [one, two] = [await newEngine(), await newEngine({}, () => ({ confirm: undefined }))]
    const [a, b] = [one, two].map((engine) => new KeyedMutex({ engine }))
    const release = await a.acquire('key')
    const next = b.acquire('key')
    await world.queued()
    world.server.commands = []
    release()
    ;(await next)()
    assert.deepEqual([world.count('confirm'), world.count('enter')], [0, 1])
  })

  it('are requested for whole milliseconds, for any options', async () => {
    const requests = []
    const change = (driver) => ({
      enter(request) {
        requests.push(request)
        return driver.enter(request)
      },
    })
    await newEngine({ ttl: 2000 / 3, maxHold: 4000 / 3 }, change)
    const [{ claim, maxHold }] = requests
    assert.deepEqual([claim, maxHold], [666, 1333])
  })

  it('may be errors of any type', async () => {
    let failures = 3
    const change = (driver) => ({
      enter: (request) =>
        ++failures < 3
          ? Promise.reject(new DOMException('late', 'TimeoutError'))
          : driver.enter(request),
    })
    const a = new KeyedMutex({ engine: await newEngine({}, change) })
    failures = 0
    ;(await world.clock.until(a.acquire('key', { timeout: 2000 })))()
    assert.equal(failures, 3)
  })

  it('never give back a lease twice', async () => {
    const held = []
    let isLate = true
    const one = await newEngine({}, (driver) => ({
      leave(request) {
        if (request.keep !== 3 || !isLate) return driver.leave(request)
        isLate = false
        return new Promise((resolve) => held.push(() => resolve(driver.leave(request))))
      },
    }))
    const [a, b] = [one, await newEngine()].map((engine) => new KeyedSemaphore(4, { engine }))
    await a.acquire('key', 4)
    a.release('key', 1)
    a.release('key', 1)
    const [, release] = await b.acquire('key', 2, { timeout: 1000 })
    for (const go of held) go()
    await world.clock.settle()
    const state = [...world.server.keys].find(([key]) => key.startsWith('keyed semaphore'))[1]
    assert.equal(world.server.free(state), 0)
    release()
    a.release('key', 2)
  })
})
