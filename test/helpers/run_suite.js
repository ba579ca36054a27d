'use strict'
// Tests of runExclusive and executeLocked, and of what callbacks may do, for Mutex and
// Semaphore(1).
const assert = require('node:assert/strict')
const { E_CANCELED } = require('../..')
const { held } = require('./kinds.js')
const { assertIdle, note, turn, watch } = require('./promises.js')

const boom = new Error('boom')
const fail = () => {
  throw boom
}

const failing = {
  'a callback that throws': fail,
  'a callback that rejects': () => Promise.reject(boom),
  'a callback that throws later': async () => {
    await null
    throw boom
  },
  // biome-ignore-start lint/suspicious/noThenProperty: these tests are about thenables
  'a thenable that throws in then': () => ({ then: fail }),
  'a getter of then that throws': () => Object.defineProperty({}, 'then', { get: fail }),
  'a thenable that rejects, then throws': () => ({
    then(_resolve, reject) {
      reject(boom)
      throw new Error('too late')
    },
  }),
  // biome-ignore-end lint/suspicious/noThenProperty: as above
}

function describeRun(kind, method) {
  const run = (lock, callback, options) => kind.run(lock, method, callback, options)

  describe(`${kind.name}: ${method}`, () => {
    it('never calls back synchronously', async () => {
      const lock = kind.make()
      let called = 0
      const promise = run(lock, () => called++)
      assert.equal(lock.isLocked(), true)
      assert.equal(called, 0)
      await promise
      assert.equal(called, 1)
      assert.equal(lock.isLocked(), false)
      const { lock: queued, release } = await held(kind)
      const after = run(queued, () => called++)
      release()
      assert.equal(called, 1)
      await after
      assert.equal(called, 2)
    })

    it("resolves to the callback's result, a value or a promise", async () => {
      const lock = kind.make()
      assert.equal(await run(lock, () => 7), 7)
      assert.equal(await run(lock, async () => 8), 8)
      // biome-ignore lint/suspicious/noThenProperty: a thenable
      assert.equal(await run(lock, () => ({ then: (resolve) => resolve(9) })), 9)
      assert.equal(await run(lock, () => {}), undefined)
      await assertIdle(lock)
    })

    it('holds the lock until the promise settles', async () => {
      const lock = kind.make()
      let end
      const log = []
      const running = run(lock, () => new Promise((resolve) => (end = resolve)))
      note(
        log,
        'next',
        run(lock, () => {}),
      )
      await turn()
      assert.equal(lock.isLocked(), true)
      assert.deepEqual(log, [])
      end('end')
      assert.equal(await running, 'end')
      await turn()
      assert.deepEqual(log, ['next'])
      await assertIdle(lock)
    })

    for (const [name, callback] of Object.entries(failing)) {
      it(`releases, and passes on the error: ${name}`, async () => {
        const lock = kind.make()
        const first = watch(run(lock, callback))
        const second = watch(run(lock, callback))
        const third = watch(run(lock, () => 'third'))
        await turn()
        assert.equal(first.reason, boom)
        assert.equal(second.reason, boom)
        assert.equal(third.value, 'third')
        await assertIdle(lock)
      })
    }

    it('rejects, and does not throw, for an invalid callback or option', async () => {
      for (const args of [
        [undefined],
        [null],
        ['callback'],
        [{}],
        [() => {}, null],
        [() => {}, 'high'],
        [() => {}, Number.NaN],
        [() => {}, { priority: '1' }],
      ]) {
        const { lock, release } = await held(kind)
        for (const state of ['held', 'free']) {
          if (state === 'free') release()
          const rejected = await run(lock, ...args).catch((error) => error)
          assert.ok(rejected instanceof TypeError || rejected instanceof RangeError, `${args}`)
        }
        await assertIdle(lock)
      }
    })

    it('lets callbacks use the lock they hold', async () => {
      const { lock, release } = await held(kind)
      const log = []
      const outer = run(lock, () => {
        note(
          log,
          'inner',
          run(lock, () => {}),
        )
        note(log, 'acquired', kind.acquire(lock, 1)).then((given) => kind.releaser(given)())
        note(log, 'unlocked', lock.waitForUnlock())
        assert.equal(kind.tryAcquire(lock), undefined)
        assert.equal(lock.isLocked(), true)
      })
      note(log, 'outer', outer)
      release()
      await outer
      await turn()
      assert.deepEqual(log.toSorted(), ['acquired', 'inner', 'outer', 'unlocked'])
      assert.ok(log.indexOf('acquired') < log.indexOf('inner'))
      await assertIdle(lock)
    })

    it('lets callbacks cancel all others, and go on', async () => {
      const { lock, release } = await held(kind)
      const running = run(lock, () => {
        lock.cancel()
        return lock.isLocked()
      })
      const others = [watch(run(lock, fail)), watch(kind.acquire(lock))]
      release()
      assert.equal(await running, true)
      await turn()
      for (const { reason } of others) assert.equal(reason, E_CANCELED)
      await assertIdle(lock)
    })

    it('can be used again in handlers of a cancellation', async () => {
      const { lock, release, log } = await held(kind)
      const again = kind.acquire(lock).catch(() => run(lock, () => log.push('again')))
      lock.cancel()
      await turn()
      assert.deepEqual(log, [])
      release()
      await again
      assert.deepEqual(log, ['again'])
      await assertIdle(lock)
    })
  })
}

module.exports = { describeRun }
