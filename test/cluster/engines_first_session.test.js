'use strict'
// The first session of an engine: this thread opens it, and the renewing thread connects before it renews it.
const assert = require('node:assert/strict')
const { Mutex } = require('../..')
const { timedWorld } = require('./helpers/fake_world.js')
const { gate } = require('./helpers/gate.js')
const { LocalThread } = require('./helpers/local_thread.js')

const ttl = 6000

describe('The first session of an engine', () => {
  const world = timedWorld()
  /** What the thread that renews has done, each with the time since its start. */
  let done
  let connect
  beforeEach(() => {
    done = []
    connect = async () => {}
    const start = world.clock.now()
    const note = (what) => done.push([what, world.clock.now() - start])
    world.outside.startThread = (_, ttl, claims) => {
      const { open, renew, close } = world.server.keeper()
      const keeper = {
        open(...args) {
          note('open')
          return open(...args)
        },
        renew(...args) {
          note('renew')
          return renew(...args)
        },
        close,
      }
      const connecting = async () => {
        note('connect')
        await connect()
        return keeper
      }
      return new LocalThread(connecting, { ttl, clock: world.clock, claims })
    }
  })

  const mutexOf = (engine) => new Mutex({ engine, name: 'a' })

  it('is opened before the renewing thread connects, which does that before the first renewal', async () => {
    const mutex = mutexOf(world.engineOver({ ttl }))
    const release = await mutex.acquire()
    await world.clock.pass(900)
    assert.deepEqual(done, [])
    await world.clock.pass(4 * ttl)
    const times = done.map(([what, time]) => [what, Math.round(time / 1000)])
    assert.deepEqual(times.slice(0, 4), [
      ['connect', 1],
      ['renew', 1],
      ['renew', 3],
      ['renew', 5],
    ])
    assert.equal(release.signal.aborted, false)
    release()
  })

  it('is never connected to by the thread of a program that ends before', async () => {
    const engine = world.engineOver({ ttl })
    ;(await mutexOf(engine).acquire())()
    await engine.close()
    await world.clock.pass(ttl)
    assert.deepEqual(done, [])
    assert.equal(world.server.sessions.size, 0)
  })

  it('is opened by the renewing thread for ready(), which shows that it can connect', async () => {
    await world.engineOver({ ttl }).ready()
    assert.deepEqual(done, [
      ['connect', 0],
      ['open', 0],
    ])
  })

  it('is opened by the renewing thread where its ttl is too short to start a thread meanwhile', async () => {
    ;(await mutexOf(world.engineOver({ ttl: 2999 })).acquire())()
    assert.deepEqual(done[1], ['open', 0])
  })

  it('is opened by the renewing thread where the driver cannot', async () => {
    ;(await mutexOf(world.engineOver({ ttl }, () => ({ open: undefined }))).acquire())()
    assert.deepEqual(done[1], ['open', 0])
  })

  it('is followed by sessions that the renewing thread opens', async () => {
    const mutex = mutexOf(world.engineOver({ ttl }))
    ;(await mutex.acquire())()
    world.server.sessions.clear()
    await world.clock.pass(ttl)
    ;(await world.clock.until(mutex.acquire()))()
    const names = done.map(([what]) => what)
    assert.deepEqual(names.slice(0, 3), ['connect', 'renew', 'open'])
  })

  it('is safe no longer than for its ttl from the moment its command was sent', async () => {
    const { opened, open } = gate()
    connect = () => new Promise(() => {})
    const engine = world.engineOver({ ttl }, (driver) => ({
      async open(...args) {
        await driver.open(...args)
        await opened
      },
    }))
    const waiting = mutexOf(engine).acquire()
    await world.clock.pass(2000)
    open()
    const { signal } = await waiting
    await world.clock.pass(3900)
    assert.equal(signal.aborted, false)
    await world.clock.pass(100)
    assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
  })

  it('is renewed in time when its answer comes late, though loading the client takes long', async () => {
    const { opened, open } = gate()
    connect = () => world.clock.after(1000)
    const engine = world.engineOver({ ttl }, (driver) => ({
      async open(...args) {
        await driver.open(...args)
        await opened
      },
    }))
    const waiting = mutexOf(engine).acquire()
    await world.clock.pass(ttl - 500)
    open()
    const { signal } = await waiting
    await world.clock.pass(3 * ttl)
    assert.equal(signal.aborted, false)
  })

  describe('if it opens after the end of the engine', () => {
    /** `more` are methods in place of the driver's own. */
    async function opensLate(more) {
      const { opened, open } = gate()
      const engine = world.engineOver({ ttl }, (driver) => ({
        async open(...args) {
          await opened
          await driver.open(...args)
        },
        ...more,
      }))
      const rejected = assert.rejects(mutexOf(engine).acquire(), { code: 'ERR_LOCK_ENGINE' })
      await world.clock.settle()
      await engine.close()
      await rejected
      open()
      await world.clock.settle()
    }

    it('is ended', async () => {
      await opensLate()
      assert.equal(world.server.sessions.size, 0)
      assert.equal(world.count('end'), 1)
    })

    it('is left to expire, without an unhandled rejection, where a driver throws in place of ending it', async () => {
      let calls = 0
      const end = () => {
        calls++
        throw new Error('closed')
      }
      const unhandled = []
      const note = (reason) => unhandled.push(reason)
      process.on('unhandledRejection', note)
      try {
        await opensLate({ end })
        // Node.js reports them after the microtasks.
        await new Promise(setImmediate)
      } finally {
        process.off('unhandledRejection', note)
      }
      assert.deepEqual([calls, unhandled], [1, []])
    })
  })

  it('is lost when the renewing thread cannot connect, whose reason is the cause', async () => {
    connect = async () => {
      throw new Error('WRONGPASS')
    }
    const mutex = mutexOf(world.engineOver({ ttl }))
    const release = await mutex.acquire()
    await world.clock.pass(ttl - 100)
    assert.equal(release.signal.aborted, false)
    await world.clock.pass(100)
    const { code, cause } = release.signal.reason
    release()
    assert.deepEqual([code, cause.message], ['ERR_LOCK_LOST', 'WRONGPASS'])
    // And there is no other one until it can.
    const error = await world.clock.until(mutex.acquire().catch((reason) => reason))
    assert.equal(error.cause.message, 'WRONGPASS')
  })

  it('survives attempts to connect that fail', async () => {
    let count = 0
    connect = async () => {
      count++
      if (count < 5) throw new Error('refused')
    }
    const { signal } = await mutexOf(world.engineOver({ ttl })).acquire()
    await world.clock.pass(3 * ttl)
    assert.equal(count, 5)
    assert.equal(signal.aborted, false)
  })

  for (const reason of [new Error('refused'), undefined]) {
    it(`is not there where it could not be opened, for ${reason}, and the thread opens the next one`, async () => {
      const engine = world.engineOver({ ttl }, () => ({ open: () => Promise.reject(reason) }))
      ;(await world.clock.until(mutexOf(engine).acquire()))()
      assert.deepEqual(
        done.map(([what]) => what),
        ['connect', 'open'],
      )
    })
  }

  it('is not there where the renewing thread ends meanwhile', async () => {
    let thread
    const { startThread } = world.outside
    world.outside.startThread = (...args) => {
      thread = startThread(...args)
      return thread
    }
    const engine = world.engineOver({ ttl }, () => ({
      async open() {
        thread.emit('error', new Error('no memory'))
      },
    }))
    ;(await world.clock.until(mutexOf(engine).acquire()))()
    assert.deepEqual(
      done.map(([what]) => what),
      ['connect', 'open'],
    )
  })
})
