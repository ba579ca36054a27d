'use strict'
// Requirements of every engine for locks with `maxHold` and `minHold`.
const assert = require('node:assert/strict')
const { randomUUID } = require('node:crypto')
const { once } = require('node:events')
const { KeyedMutex, LockManager, Mutex, RecursiveMutex, RWLock, Semaphore } = require('../../..')
const { hubOf } = require('../../../lib/cluster/engine.js')
const { FakeClock } = require('../../helpers/fake_clock.js')

/** Longer than any test runs. */
const long = 60_000
const ifAvailable = true

function holdContract({ engine, several, time, inLine, leasesOf, afterLoss }) {
  /** Objects of one name over two engines. */
  const pair = (options, Class = Mutex) => {
    const name = randomUUID()
    return several(2, (engine) => new Class({ engine, name, ...options }))
  }

  describe('with a minHold', () => {
    it('keeps others out until its end, even after a release', async () => {
      const [a, b] = await pair({ minHold: 300 })
      const start = time.now()
      ;(await a.acquire())()
      const release = await time.until(b.acquire())
      assert.ok(time.now() - start > 295)
      assert.equal(release.abandoned, false)
      release()
      const again = await time.until(b.acquire())
      assert.ok(time.now() - start > 590)
      again()
    })

    it('keeps out callers of the same thread, too', async () => {
      const [a, b] = await pair({ minHold: long })
      ;(await a.acquire())()
      assert.equal(await a.acquire({ ifAvailable }), undefined)
      assert.equal(await b.acquire({ ifAvailable }), undefined)
    })

    it('keeps out a waiter of the same thread that its holder hands over to', async () => {
      const [a] = await pair({ minHold: 300 })
      const start = time.now()
      const release = await a.acquire()
      const next = a.acquire()
      release()
      ;(await time.until(next))()
      assert.ok(time.now() - start > 295)
    })

    it('lets a waiter time out or be aborted meanwhile', async () => {
      const [a, b] = await pair({ minHold: long })
      await a.runExclusive(() => {})
      // It must not time out before the server has answered.
      const clock = new FakeClock()
      const queued = inLine(() => b.acquire({ timeout: 300 }))
      clock.restore()
      const { promise: late } = await queued
      clock.advance(300)
      await assert.rejects(late, { code: 'ERR_LOCK_TIMEOUT' })
      const controller = new AbortController()
      const { promise } = await inLine(() => b.acquire({ signal: controller.signal }))
      controller.abort(new Error('enough'))
      await assert.rejects(promise, { message: 'enough' })
      assert.deepEqual([b.snapshot().waiting, b.isLocked()], [0, false])
    })

    it('counts from the grant to a waiter, even if a message announces it', async () => {
      const [a, b] = await pair({ minHold: 300 })
      const start = time.now()
      const first = await a.acquire()
      const { promise } = await inLine(() => b.acquire())
      await time.pass(300)
      first()
      ;(await time.until(promise))()
      ;(await time.until(a.acquire()))()
      assert.ok(time.now() - start > 590)
    })

    it('keeps others out after a callback that throws', async () => {
      const [a, b] = await pair({ minHold: long })
      const fail = async () => {
        throw new Error('no mails today')
      }
      await assert.rejects(a.runExclusive(fail), { message: 'no mails today' })
      assert.equal(await b.runExclusive(fail, { ifAvailable }), undefined)
    })

    it('keeps others out after its engine was closed', async () => {
      const name = randomUUID()
      const mine = await engine()
      const a = new Mutex({ engine: mine, name, minHold: long })
      const [b] = await several(1, (engine) => new Mutex({ engine, name, minHold: long }))
      const release = await a.acquire()
      await mine.close()
      assert.equal(await b.acquire({ ifAvailable }), undefined)
      release()
      assert.equal(await b.acquire({ ifAvailable }), undefined)
    })

    it('does not begin with a grant that reached no caller', async () => {
      const [a, b] = await pair({ minHold: long })
      await a.waitForUnlock()
      await b.waitForUnlock()
      const release = await a.acquire({ timeout: 10_000 })
      release()
    })

    it('does not begin with some of several keys, if not all are available', async () => {
      const [a, b] = await pair({ minHold: long }, KeyedMutex)
      const held = await b.acquire('y')
      assert.equal(await a.acquire(['x', 'y'], { ifAvailable }), undefined)
      const release = await b.acquire('x', { timeout: 10_000 })
      release()
      held()
    })

    it('applies to the key, and a stale Releaser does not end it', async () => {
      const [a, b] = await pair({ minHold: long }, KeyedMutex)
      const release = await a.acquire('x')
      release()
      release()
      assert.equal(await b.acquire('x', { ifAvailable }), undefined)
      ;(await b.acquire('y', { timeout: 10_000 }))()
    })

    it('applies to the outermost hold of a RecursiveMutex', async () => {
      const [a, b] = await pair({ minHold: long }, RecursiveMutex)
      const inner = await a.runExclusive(() => a.runExclusive(() => 'inner'))
      assert.equal(inner, 'inner')
      assert.equal(await b.runExclusive(() => 'other', { ifAvailable }), undefined)
    })

    it('is honoured by objects that have none', async () => {
      const name = randomUUID()
      const [a, b] = await several(2, (engine) => ({ engine, name }))
      ;(await new Mutex({ ...a, minHold: long }).acquire())()
      assert.equal(await new Mutex(b).acquire({ ifAvailable }), undefined)
    })
  })

  describe('with a maxHold', () => {
    it('abort their signal before another caller is admitted', async () => {
      const name = randomUUID()
      const times = [300, long]
      const [a, b] = await several(2, (engine, i) => new Mutex({ engine, name, maxHold: times[i] }))
      const release = await a.acquire()
      const [lease] = leasesOf(name).slice(-1)
      const next = await afterLoss(release.signal, lease, b.acquire())
      const { code, message } = release.signal.reason
      assert.equal(code, 'ERR_LOCK_LOST')
      assert.match(message, /maxHold, 300 ms/)
      assert.equal(next.abandoned, true)
      release()
      assert.equal(await a.acquire({ ifAvailable }), undefined)
      next()
    })

    it('end for callers of the same thread, too, and a stale Releaser does nothing', async () => {
      const [a] = await pair({ maxHold: 300 })
      const release = await a.acquire()
      const { signal } = release
      const next = await time.until(a.acquire({ timeout: 20_000 }))
      assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
      assert.equal(next.abandoned, true)
      release()
      assert.equal(a.isLocked(), true)
      next()
    })

    it('each have the full time, one after another in a thread', async () => {
      const name = randomUUID()
      const [a] = await several(1, (engine) => new Mutex({ engine, name, maxHold: 400 }))
      const first = await a.acquire()
      const second = a.acquire()
      await time.pass(250)
      first()
      const { signal } = await second
      // Its lease is another one, and lasts as long from its own request.
      const [{ sent }, later] = leasesOf(name)
      assert.ok(later.sent - sent > 245)
      await time.until(once(signal, 'abort'))
      assert.ok(time.now() - later.sent >= 0.99 * 400 - 2)
    })

    it("may be shorter and longer than the engine's maxHold", async () => {
      const name = randomUUID()
      const own = await engine()
      // Shorter than the ttl that lets its session outlast a stall.
      hubOf(own).settings.maxHold = 1000
      const a = new Mutex({ engine: own, name, maxHold: long })
      const b = new Mutex({ engine: await engine(), name })
      const other = new Mutex({ engine: own, name: `${name} of the engine` })
      const release = await a.acquire()
      const { signal } = await other.acquire()
      await time.until(once(signal, 'abort'))
      assert.equal(release.signal.aborted, false)
      assert.equal(await b.acquire({ ifAvailable }), undefined)
      release()
    })

    it('are for semaphores, read-write locks and lock managers as well', async () => {
      const name = randomUUID()
      const [options] = await several(1, (engine) => ({ engine, name, maxHold: 300 }))
      const [, unit] = await new Semaphore(1, options).acquire()
      const write = await new RWLock(options).acquireWrite()
      const read = await new RWLock({ ...options, name: `${name} read` }).acquireRead()
      const asked = new LockManager(options).request('name', ({ signal }) => once(signal, 'abort'))
      await assert.rejects(time.until(asked), { code: 'ERR_LOCK_LOST' })
      for (const { signal } of [unit, write, read]) {
        if (!signal.aborted) await time.until(once(signal, 'abort'))
        assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
      }
      const asking = new Semaphore(1, options).acquire({ timeout: 20_000 })
      const [, again] = await time.until(asking)
      again()
    })

    it('end for a RecursiveMutex, whose callers in the thread wait for the callback', async () => {
      const [a, b] = await pair({ maxHold: 300 }, RecursiveMutex)
      const order = []
      let second
      await a.runExclusive(async ({ signal }) => {
        await time.until(once(signal, 'abort'))
        await time.until(b.runExclusive(() => order.push('other thread')))
        second = a.runExclusive(() => order.push('same object'), { timeout: 20_000 })
        order.push('callback')
      })
      await time.until(second)
      assert.deepEqual(order, ['other thread', 'callback', 'same object'])
    })

    it('rest for the minHold after a lost hold', async () => {
      const name = randomUUID()
      const times = { maxHold: 300, minHold: 300 }
      const [a, b] = await several(2, (engine) => new Mutex({ engine, name, ...times }))
      const start = time.now()
      const release = await a.acquire()
      const [lease] = leasesOf(name).slice(-1)
      const next = await afterLoss(release.signal, lease, b.acquire())
      assert.ok(time.now() - start > 295)
      assert.equal(release.signal.aborted, true)
      next()
    })
  })
}

/** Requirements of drivers for hold times. `make()` resolves to a session: see contract.js. */
function restContract(make, time) {
  it('grants no request before the end of minHold, even if the session is over', async () => {
    const [a, b] = [await make(), await make()]
    const key = randomUUID()
    const asked = { key, minHold: long, id: a.newId() }
    assert.equal((await a.enter(asked)).state, 'held')
    await a.end()
    const other = { key, id: b.newId() }
    assert.equal((await b.enter({ ...other, wait: false })).state, 'refused')
    const { state, look } = await b.enter({ ...other, minHold: long })
    assert.equal(state, 'waiting')
    assert.ok(look > 0 && look <= long + 1, `${look}`)
  })

  it('grants the next request before the end of minHold if the holder was unused', async () => {
    const [a, b] = [await make(), await make()]
    const key = randomUUID()
    const held = { key, minHold: long, id: a.newId() }
    const waiting = { key, minHold: long, id: b.newId() }
    await a.enter(held)
    await b.enter(waiting)
    // A request that was never the holder ends nothing.
    await b.leave({ key, id: b.newId(), unused: true })
    assert.equal((await b.enter(waiting)).state, 'waiting')
    await a.leave({ ...held, unused: true })
    assert.deepEqual(await b.next(), ['granted', waiting.id])
    await b.leave(waiting)
    // The grant by a message has begun a new minHold.
    assert.equal((await a.enter({ key, id: a.newId(), wait: false })).state, 'refused')
  })

  it('admits a waiter at the end of minHold', async () => {
    const [a, b] = [await make(), await make()]
    const key = randomUUID()
    const start = time.now()
    const held = { key, minHold: 200, id: a.newId() }
    await a.enter(held)
    await a.leave(held)
    const waiting = { key, id: b.newId() }
    for (;;) {
      const { state, look, abandoned } = await b.enter(waiting)
      if (state === 'held') {
        assert.equal(abandoned, false)
        break
      }
      assert.equal(state, 'waiting')
      await time.pass(look)
    }
    assert.ok(time.now() - start > 195)
  })
}

module.exports = { holdContract, restContract }
