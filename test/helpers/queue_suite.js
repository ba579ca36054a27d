'use strict'
// Tests of the queues of Mutex and of Semaphore(1).
const assert = require('node:assert/strict')
const { AsyncLocalStorage } = require('node:async_hooks')
const { E_CANCELED } = require('../..')
const { held } = require('./kinds.js')
const { assertIdle, note, turn, watch } = require('./promises.js')

const boom = new Error('boom')
const many = 100_000

/** Releases `lock` until there are no waiters. */
async function drain(lock) {
  while (lock.isLocked()) {
    lock.release()
    await turn()
  }
}

function describeQueue(kind) {
  const { acquire, releaser, run } = kind

  describe(`${kind.name}: the queue`, () => {
    it('is locked before acquire returns, and free before release returns', async () => {
      const lock = kind.make()
      const promise = acquire(lock)
      assert.ok(promise instanceof Promise)
      assert.equal(lock.isLocked(), true)
      const release = releaser(await promise)
      assert.equal(release(), undefined)
      assert.equal(lock.isLocked(), false)
    })

    it('admits one at a time, first come first served', async () => {
      const { lock, release, log } = await held(kind)
      const all = ['a', 'b', 'c'].map((name) => note(log, name, acquire(lock)))
      await turn()
      assert.deepEqual(log, [])
      release()
      assert.equal(lock.isLocked(), true, 'it is handed over')
      await turn()
      assert.deepEqual(log, ['a'])
      releaser(await all[0])()
      await turn()
      assert.deepEqual(log, ['a', 'b'])
      releaser(await all[1])()
      releaser(await all[2])()
      assert.deepEqual(log, ['a', 'b', 'c'])
      await assertIdle(lock)
    })

    it('admits higher priorities first, and equal ones in order', async () => {
      const { lock, log } = await held(kind)
      const priorities = [0, 2, undefined, -1, 0.5, 2, Infinity, -Infinity, 2.5, -0]
      for (const priority of priorities) note(log, priority, acquire(lock, priority))
      await drain(lock)
      assert.deepEqual(log, [Infinity, 2.5, 2, 2, 0.5, 0, undefined, -0, -1, -Infinity])
    })

    it('takes a priority as a number or an option', async () => {
      const { lock, log } = await held(kind)
      note(log, 'acquire', acquire(lock, { priority: 1 }))
      for (const method of ['runExclusive', 'executeLocked']) {
        run(lock, method, () => log.push(method), 3)
        run(lock, method, () => log.push(`${method} option`), { priority: 4 })
      }
      note(log, 'none', acquire(lock, {}))
      note(log, 'undefined', acquire(lock, { priority: undefined }))
      await drain(lock)
      assert.deepEqual(log, [
        'runExclusive option',
        'executeLocked option',
        'runExclusive',
        'executeLocked',
        'acquire',
        'none',
        'undefined',
      ])
    })

    it('hands over in the same turn', async () => {
      const { lock, release, log } = await held(kind)
      acquire(lock).then(() => log.push('admitted'))
      release()
      await null
      assert.deepEqual(log, ['admitted'])
    })

    it('admits 100,000 waiters with synchronous callbacks in order', async () => {
      const { lock, release } = await held(kind)
      const order = []
      const all = []
      for (let i = 0; i < many; i++) all.push(run(lock, 'runExclusive', () => order.push(i)))
      release()
      await Promise.all(all)
      assert.deepEqual(order, [...Array(many).keys()])
      await assertIdle(lock)
    })

    it('cancels 100,000 waiters in order', async () => {
      const { lock, release } = await held(kind)
      const order = []
      for (let i = 0; i < many; i++) acquire(lock).catch(() => order.push(i))
      lock.cancel()
      await turn()
      assert.deepEqual(order, [...Array(many).keys()])
      release()
      await assertIdle(lock)
    })

    it("runs callbacks in their caller's async context", async () => {
      const { lock, release } = await held(kind)
      const storage = new AsyncLocalStorage()
      const within = (name) =>
        storage.run(name, () => run(lock, 'runExclusive', () => [name, storage.getStore()]))
      const acquired = storage.run('acquire', () =>
        acquire(lock).then((given) => {
          releaser(given)()
          return ['acquire', storage.getStore()]
        }),
      )
      const all = [within('a'), within('b'), acquired]
      storage.run('releaser', release)
      for (const [name, store] of await Promise.all(all)) assert.equal(store, name)
    })

    it('is cancelled: every queued waiter is rejected, and no other caller is affected', async () => {
      const { lock, release, log } = await held(kind)
      const called = () => log.push('called')
      const all = [
        note(log, 'a', acquire(lock)),
        note(log, 'b', acquire(lock, { priority: 1 })),
        note(log, 'c', acquire(lock)),
      ]
      const reasons = ['runExclusive', 'executeLocked'].map((way) => watch(run(lock, way, called)))
      const unlocked = watch(lock.waitForUnlock())
      assert.equal(lock.cancel(), undefined)
      assert.equal(lock.isLocked(), true)
      await Promise.all(all)
      assert.deepEqual(log.toSorted(), ['a!', 'b!', 'c!'])
      await turn()
      for (const { reason } of reasons) assert.equal(reason, E_CANCELED)
      assert.equal(unlocked.state, 'pending')
      release()
      await turn()
      assert.equal(unlocked.state, 'resolved')
      assert.equal(log.length, 3)
      await assertIdle(lock)
    })

    it('rejects with the error of the constructor, or the reason given', async () => {
      const errorLike = { message: 'closed', stack: 'Error: closed' }
      for (const [args, reason, expected] of [
        [[boom], undefined, boom],
        [[{ cancelError: boom }], undefined, boom],
        [[{ cancelError: undefined }], undefined, E_CANCELED],
        [[undefined], undefined, E_CANCELED],
        [[boom], E_CANCELED, E_CANCELED],
        [[], null, null],
        // Any object with a stack, such as an error that crossed a realm or a bundler.
        [[errorLike], undefined, errorLike],
      ]) {
        const { lock } = await held(kind, ...args)
        const waiting = watch(acquire(lock))
        lock.cancel(reason)
        await turn()
        assert.equal(waiting.state, 'rejected')
        assert.equal(waiting.reason, expected)
      }
    })

    it('cancels nothing without a waiter', async () => {
      const lock = kind.make()
      lock.cancel()
      const release = releaser(await acquire(lock))
      lock.cancel()
      assert.equal(lock.isLocked(), true)
      release()
      await assertIdle(lock)
    })
  })
}

module.exports = { describeQueue, drain }
