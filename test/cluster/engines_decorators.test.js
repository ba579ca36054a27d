'use strict'
// withTimeout() and tryAcquire(lock) of locks over an engine.
const assert = require('node:assert/strict')
const { E_ALREADY_LOCKED, E_TIMEOUT, Mutex, Semaphore } = require('../..')
const { tryAcquire, withTimeout } = require('../..')
const { timedWorld } = require('./helpers/fake_world.js')

const kinds = {
  Mutex: (engine, options) => new Mutex({ engine, name: 'a', ...options }),
  Semaphore: (engine, options) => new Semaphore(1, { engine, name: 'a', ...options }),
}
const waits = {
  acquire: async (lock) => {
    const ticket = await lock.acquire()
    const [release] = [ticket].flat().slice(-1)
    release()
  },
  runExclusive: (lock) => lock.runExclusive(() => {}),
  waitForUnlock: (lock) => lock.waitForUnlock(),
}

for (const [kind, make] of Object.entries(kinds)) {
  describe(`A decorated ${kind} over an engine`, () => {
    const world = timedWorld()

    for (const [name, wait] of Object.entries(waits)) {
      it(`lets ${name}() succeed where the lock is free, whatever its limit`, async () => {
        const lock = make(await world.newEngine())
        const decorated = [tryAcquire(lock), withTimeout(lock, 50), withTimeout(lock, Infinity)]
        for (const one of [...decorated, tryAcquire(withTimeout(lock, 50))])
          await world.clock.until(wait(one))
        assert.equal(lock.isLocked(), false)
      })

      it(`rejects ${name}() with its error where another process holds the lock`, async () => {
        const [lock, other] = [make(await world.newEngine()), make(await world.newEngine())]
        await world.clock.until(
          other.runExclusive(async () => {
            await assert.rejects(wait(tryAcquire(lock)), E_ALREADY_LOCKED)
            await assert.rejects(wait(tryAcquire(withTimeout(lock, 50))), E_ALREADY_LOCKED)
            await assert.rejects(world.clock.until(wait(withTimeout(lock, 50))), E_TIMEOUT)
          }),
        )
        await world.clock.until(wait(tryAcquire(lock)))
      })

      it(`rejects ${name}() with the error of the engine while the server is silent`, async () => {
        const lock = make(await world.newEngine({ answerTimeout: 1000 }))
        world.server.trouble = new Promise(() => {})
        for (const one of [tryAcquire(lock), withTimeout(lock, 50)])
          await assert.rejects(world.clock.until(wait(one)), { code: 'ERR_LOCK_ENGINE' })
      })
    }

    it('keeps a shorter timeout of a caller, with its own error', async () => {
      const [lock, other] = [make(await world.newEngine()), make(await world.newEngine())]
      await world.clock.until(
        other.runExclusive(async () => {
          const wait = withTimeout(lock, 5000).acquire({ timeout: 50 })
          await assert.rejects(world.clock.until(wait), { code: 'ERR_LOCK_TIMEOUT' })
        }),
      )
    })

    it("keeps a shorter timeout of the lock's constructor, with its own error", async () => {
      const lock = make(await world.newEngine(), { timeout: 50 })
      const other = make(await world.newEngine())
      await world.clock.until(
        other.runExclusive(async () => {
          for (const limit of [5000, Number.POSITIVE_INFINITY]) {
            const wait = withTimeout(lock, limit).acquire()
            await assert.rejects(world.clock.until(wait), { code: 'ERR_LOCK_TIMEOUT' })
          }
        }),
      )
    })

    it('keeps a shorter limit of the decorated lock, with its own error', async () => {
      const lock = make(await world.newEngine())
      const hasTimeout = make(await world.newEngine(), { timeout: 50 })
      const other = make(await world.newEngine())
      const late = new Error('late')
      const nested = withTimeout(withTimeout(lock, 50), 5000, late)
      const shorter = [
        () => nested.acquire(),
        () => nested.acquire({ timeout: 9000 }),
        () => withTimeout(nested, 4000, late).acquire(),
        () => withTimeout(withTimeout(hasTimeout, 5000, late), 4000, late).acquire(),
      ]
      await world.clock.until(
        other.runExclusive(async () => {
          const first = withTimeout(withTimeout(lock, 5000), 50, late).acquire()
          await assert.rejects(world.clock.until(first), late)
          for (const wait of shorter)
            await assert.rejects(world.clock.until(wait()), { code: 'ERR_LOCK_TIMEOUT' })
        }),
      )
    })

    it('refuses an invalid timeout', async () => {
      const lock = make(await world.newEngine())
      for (const timeout of ['500', Number.NaN, -1, null])
        assert.throws(() => withTimeout(lock, 50).acquire({ timeout }), /timeout must be/)
    })

    it('passes on a reason of any type', async () => {
      const lock = make(await world.newEngine())
      const signal = AbortSignal.abort(null)
      const reason = await withTimeout(lock, 50)
        .acquire({ signal })
        .catch((thrown) => thrown)
      assert.equal(reason, null)
    })
  })
}
