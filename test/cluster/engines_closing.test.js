'use strict'
// close() and onIdle() of locks over an engine: the server has been told of everything given back.
const assert = require('node:assert/strict')
const { KeyedMutex, Mutex, RWLock, Semaphore } = require('../..')
const { closables, isPending } = require('../helpers/closable.js')
const { fakeWorld } = require('./helpers/fake_world.js')

const closed = { code: 'ERR_LOCK_CLOSED' }

for (const [name, make] of Object.entries(closables)) {
  describe(`close() of a ${name} over an engine`, () => {
    const world = fakeWorld()

    it('refuses callers, and resolves when the server has been told of the last release', async () => {
      const engine = await world.newEngine()
      const made = make({ engine, name: 'close' })
      const { lock, hold, wait = hold } = made
      await lock.onIdle()
      const release = await hold()
      const waiting = wait()
      const closing = lock.close()
      for (const wait of Object.values(made.waits)) await assert.rejects(wait(), closed)
      for (const block of Object.values(made.blocks)) assert.throws(block, closed)
      await release()
      const next = await waiting
      assert.ok(await isPending(closing))
      await next()
      await closing
      assert.equal(heldAt(world.server), 0)
      const other = make({ engine, name: 'close' })
      await (await other.hold())()
      await other.lock.close()
      assert.equal(heldAt(world.server), 0)
    })
  })
}

describe('onIdle() of a lock over an engine', () => {
  const world = fakeWorld()

  it('waits for the answer to a command whose caller has given up', async () => {
    const mutex = new Mutex({ engine: await world.newEngine(), name: 'idle' })
    let answer
    world.server.slowAnswer = new Promise((resolve) => {
      answer = resolve
    })
    const controller = new AbortController()
    const waiting = mutex.acquire({ signal: controller.signal })
    assert.ok(await isPending(waiting))
    assert.equal(heldAt(world.server), 1)
    controller.abort()
    await assert.rejects(waiting, { name: 'AbortError' })
    const idle = mutex.onIdle()
    assert.ok(await isPending(idle))
    answer()
    await idle
    assert.equal(heldAt(world.server), 0)
  })

  it('does not wait for the second release of a lease whose first command has failed', async () => {
    let isFailing = true
    const engine = await world.newEngine({}, (driver) => ({
      async enter(request) {
        const answer = await driver.enter(request)
        if (!isFailing || request.key.includes('before')) return answer
        isFailing = false
        throw new Error('the connection was cut')
      },
    }))
    const mutex = new Mutex({ engine, name: 'unsure' })
    const release = await world.clock.until(mutex.acquire())
    assert.equal(isFailing, false)
    release()
    const time = world.clock.now()
    await mutex.onIdle()
    assert.equal(world.clock.now(), time)
    assert.equal(world.count('leave'), 1)
    // A command that the server executes late is undone.
    await world.clock.pass(2000)
    assert.equal(world.count('leave'), 2)
  })

  it('resolves when the session of a release that the server was not told of is over', async () => {
    const engine = await world.newEngine()
    const locks = new KeyedMutex({ engine })
    const release = await locks.acquire('a')
    let answer
    world.server.trouble = new Promise((resolve) => {
      answer = resolve
    })
    release()
    const closing = locks.close()
    assert.ok(await isPending(closing))
    const closed = engine.close() // ends the session at once, for this thread
    await closing
    answer()
    await closed
  })

  it('resolves if units are left to others, and a reader was the writer', async () => {
    const engine = await world.newEngine()
    const semaphore = new Semaphore(5, { engine, name: 'idle' })
    const lock = new RWLock({ engine, name: 'idle' })
    await semaphore.acquire(2)
    await semaphore.acquire(3)
    const reader = await lock.acquireRead()
    const closing = [semaphore.close(), lock.close()]
    semaphore.release(4)
    const writer = await reader.upgrade()
    const again = writer.downgrade()
    for (const one of closing) assert.ok(await isPending(one))
    semaphore.release()
    again()
    await Promise.all(closing)
    assert.equal(heldAt(world.server), 0)
  })
})

for (const [name, make] of Object.entries(closables)) {
  describe(`onIdle() of a ${name} over an engine, of two objects with different options`, () => {
    const world = fakeWorld()

    it('waits for the callers of both', async () => {
      const engine = await world.newEngine()
      const one = make({ engine, name: 'alike' })
      const other = make({ engine, name: 'alike', fairness: 'fifo' })
      const release = await one.hold()
      const waiting = other.hold()
      const idle = [one.lock.onIdle(), other.lock.onIdle()]
      const later = make({ engine, name: 'alike', diagnostics: 'counters' })
      idle.push(later.lock.close())
      await release()
      const next = await waiting
      for (const promise of idle) assert.ok(await isPending(promise))
      await next()
      await Promise.all(idle)
      assert.equal(heldAt(world.server), 0)
      await Promise.all([one.lock.close(), other.lock.close()])
    })
  })
}

/** How many leases the server has granted, or has requests for. */
function heldAt(server) {
  let count = 0
  for (const { holders, waiters } of server.keys.values()) count += holders.size + waiters.size
  return count
}

describe('close() of an engine whose driver fails', () => {
  const world = fakeWorld()

  const failures = {
    'throws in close()': () => ({
      close() {
        throw new Error('failed')
      },
    }),
    'rejects in close()': () => ({ close: () => Promise.reject(new Error('failed')) }),
  }
  for (const [what, change] of Object.entries(failures)) {
    it(`keeps no process alive if it ${what}`, async () => {
      const engine = await world.newEngine({}, change)
      await assert.rejects(engine.close(), { message: 'failed' })
      assert.equal(world.clock.keepsAlive(), false)
    })
  }

  it('ends the session if it throws in leave()', async () => {
    let isFailing = false
    const engine = await world.newEngine({}, (driver) => ({
      leave(request) {
        if (isFailing) throw new Error('failed')
        return driver.leave(request)
      },
    }))
    await new Mutex({ engine, name: 'held' }).acquire()
    isFailing = true
    await engine.close()
    assert.equal(world.count('end'), 1)
  })
})

describe('close() of an engine whose server is away', () => {
  const world = fakeWorld()
  const refuse = () => Promise.reject(new Error('refused'))
  const keepSilent = () => new Promise(() => {})
  const troubles = {
    'no session can be opened': { listen: refuse },
    'its commands fail': { enter: refuse },
    'a session is being opened': { listen: keepSilent },
    'a command has no answer': { enter: keepSilent },
  }

  for (const [what, methods] of Object.entries(troubles)) {
    it(`rejects a caller before it resolves, while ${what}`, async () => {
      const engine = world.engineOver({}, () => methods)
      const ends = []
      const wait = new Mutex({ engine, name: 'away' }).acquire()
      const ended = wait.catch(({ message }) => ends.push(message))
      await world.clock.settle()
      await world.clock.until(engine.close())
      ends.push('closed')
      await world.clock.until(ended)
      assert.deepEqual(ends, ['the engine for Fake has been closed: make another one', 'closed'])
    })
  }

  it('rejects ready() before it resolves', async () => {
    const engine = world.engineOver({}, () => ({ listen: keepSilent }))
    const ends = []
    const ready = engine.ready().catch(({ message }) => ends.push(message))
    await world.clock.until(engine.close())
    ends.push('closed')
    await world.clock.until(ready)
    assert.deepEqual(ends, ['the engine for Fake has been closed: make another one', 'closed'])
  })

  it('asks it for nothing once the session has lapsed, though no timer has run since', async () => {
    const { clock, server } = world
    const engine = await world.newEngine()
    const { signal } = await new Mutex({ engine, name: 'away' }).acquire()
    const { now } = clock
    clock.now = () => now() + 20_000
    server.trouble = keepSilent()
    await clock.until(engine.close())
    assert.match(signal.reason.message, /it was not renewed in time/)
  })
})
