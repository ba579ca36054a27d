'use strict'
// Watched locks over an engine, with a server in memory.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { channel } = require('node:diagnostics_channel')
const { setImmediate: nextTurn } = require('node:timers/promises')
const { fakeWorld } = require('../cluster/helpers/fake_world.js')
const { FakeTimers } = require('../helpers/timers.js')

const { KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex, RWLock, Semaphore, snapshot } = boxoffice

describe('Watched locks over an engine', () => {
  const { newEngine, queued } = fakeWorld()

  it('end a grant once, though a subscriber to its release releases it', async () => {
    const mutex = new Mutex({ engine: await newEngine(), name: 'subscribed', diagnostics: true })
    const release = await mutex.acquire()
    let inside = 0
    const work = async () => {
      assert.equal(++inside, 1, 'oracle: two are inside')
      await nextTurn()
      inside--
    }
    const all = [work, work, work].map((one) => mutex.runExclusive(one))
    const releases = channel('boxoffice:release')
    const onRelease = () => {
      releases.unsubscribe(onRelease)
      mutex.release()
    }
    releases.subscribe(onRelease)
    release()
    await Promise.all(all)
    assert.deepEqual([mutex.isLocked(), mutex.snapshot().waiting], [false, 0])
  })

  it('give back units once, though a subscriber to the release of some releases all', async () => {
    const engine = await newEngine()
    const semaphore = new Semaphore(3, { engine, name: 'subscribed', diagnostics: true })
    const [, release] = await semaphore.acquire(3)
    const releases = channel('boxoffice:release')
    const onRelease = () => {
      releases.unsubscribe(onRelease)
      release()
    }
    releases.subscribe(onRelease)
    semaphore.release(1)
    assert.equal(semaphore.getValue(), 3)
  })

  for (const diagnostics of ['counters', true]) {
    it(`count their grants, and report holders and waiters: ${diagnostics}`, async () => {
      const engine = await newEngine()
      const mutex = new Mutex({ engine, name: 'watched', diagnostics })
      const release = await mutex.acquire()
      const late = mutex.lock()
      const { locked, waiting, holders, oldestWait } = mutex.snapshot()
      assert.deepEqual([locked, waiting, holders.length], [true, 1, 1])
      assert.ok(oldestWait >= 0)
      const code = await mutex.acquire({ timeout: 5 }).catch((error) => error.code)
      assert.equal(code, 'ERR_LOCK_TIMEOUT')
      await mutex.lock({ signal: AbortSignal.abort() }).catch(() => {})
      release()
      await late
      mutex.unlock()
      const { totals } = mutex.snapshot()
      const none = { abandoned: 0, deadlocks: 0 }
      assert.deepEqual(totals, {
        ...none,
        acquisitions: 2,
        contended: 2,
        timeouts: 1,
        aborts: 1,
      })
      assert.deepEqual(mutex.snapshot().holders, [])
      assert.equal(new Mutex({ engine, name: 'watched', diagnostics }).snapshot().totals.aborts, 1)
      const { locks } = await snapshot()
      const report = locks.find(({ name }) => name === 'watched')
      assert.deepEqual([report.kind, report.scope], ['Mutex', 'cluster'])
    })

    it(`count callers that may not wait as in one process: ${diagnostics}`, async () => {
      for (const engine of [await newEngine(), undefined]) {
        const mutex = new Mutex(engine ? { engine, name: 'now', diagnostics } : { diagnostics })
        const release = await mutex.acquire()
        assert.equal(await mutex.acquire({ ifAvailable: true }), undefined)
        const full = mutex.acquire({ maxPending: 0 })
        await assert.rejects(full, { code: 'ERR_LOCK_QUEUE_FULL' })
        await assert.rejects(mutex.acquire({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
        release()
        ;(await mutex.acquire({ ifAvailable: true }))()
        const { acquisitions, aborts, timeouts } = mutex.snapshot().totals
        assert.deepEqual([acquisitions, aborts, timeouts], [2, 1, 1])
        assert.deepEqual(mutex.snapshot().holders, [])
      }
    })

    it(`count no callers of waitForUnlock, which acquire nothing: ${diagnostics}`, async () => {
      const engine = await newEngine()
      const mutex = new Mutex({ engine, name: 'watched', diagnostics })
      const release = await mutex.acquire()
      const passed = mutex.waitForUnlock()
      const late = mutex.waitForUnlock({ timeout: 5 })
      await assert.rejects(late, { code: 'ERR_LOCK_TIMEOUT' })
      release()
      await passed
      const { totals, holders } = mutex.snapshot()
      assert.deepEqual([totals.acquisitions, totals.timeouts, holders.length], [1, 0, 0])
    })

    it(`have the stack of a caller whose wait failed, with full diagnostics: ${diagnostics}`, async () => {
      const keys = new KeyedMutex({ engine: await newEngine(), diagnostics })
      const release = await keys.acquire('k')
      for (const wanted of ['k', ['j', 'k']]) {
        const waitsForIt = () => keys.acquire(wanted, { timeout: 5 })
        const clock = new FakeTimers().install()
        const wait = waitsForIt().catch((reason) => reason)
        // Until the server has granted 'j', the error says that it has not answered.
        while (wanted.includes('j') && !keys.isLocked('j')) await nextTurn()
        await nextTurn()
        clock.tick(5)
        clock.uninstall()
        const error = await wait
        assert.equal(error.code, 'ERR_LOCK_TIMEOUT')
        assert.equal(error.stack.includes('waitsForIt'), diagnostics === true)
        assert.equal(error.stack.split('\n')[0], `Error: ${error.message}`)
      }
      release()
    })

    it(`are keyed maps, too: ${diagnostics}`, async () => {
      const engine = await newEngine()
      const keys = new KeyedMutex({ engine, diagnostics })
      const release = await keys.acquire('k')
      assert.equal(keys.snapshot()[0].holders.length, 1)
      release()
      assert.deepEqual(keys.snapshot(), [])
      const semaphores = new KeyedSemaphore(3, { engine, diagnostics })
      const [, letGo] = await semaphores.acquire('k', 2)
      assert.equal(semaphores.snapshot()[0].holders[0].weight, 2)
      letGo()
      const locks = new KeyedRWLock({ engine, diagnostics })
      const read = await locks.acquireRead('k')
      assert.equal(locks.snapshot()[0].holders[0].mode, 'shared')
      read()
    })

    it(`report upgrades and downgrades of a hold: ${diagnostics}`, async () => {
      const engine = await newEngine()
      const lock = new RWLock({ engine, name: 'watched readers', diagnostics })
      const modes = () => lock.snapshot().holders.map(({ mode }) => mode)
      const read = await lock.acquireRead()
      const write = await read.upgrade()
      assert.deepEqual(modes(), ['exclusive'])
      const again = write.downgrade()
      assert.deepEqual(modes(), ['shared'])
      const last = await again.upgrade()
      last()
      assert.deepEqual(modes(), [])
      ;(await lock.acquireWrite({ timeout: 1000 }))()
      const semaphores = new KeyedSemaphore(3, { engine, diagnostics })
      const [, letGo] = await semaphores.acquire('k', 3)
      semaphores.release('k', 1)
      assert.equal(semaphores.snapshot()[0].holders[0].weight, 2)
      letGo()
      assert.deepEqual(semaphores.snapshot(), [])
    })

    it(`report upgrades that wait, and those that fail: ${diagnostics}`, async () => {
      const engines = [await newEngine(), await newEngine()]
      const [lock, other] = engines.map(
        (engine) => new RWLock({ engine, name: 'rising', diagnostics }),
      )
      const [reader, last] = [await lock.acquireRead(), await other.acquireRead()]
      const codeOf = (upgrading) => upgrading.catch((error) => error.code ?? error.name)
      const late = codeOf(reader.upgrade({ timeout: 20 }))
      await nextTurn()
      assert.ok(lock.snapshot().oldestWait >= 0)
      assert.equal(await late, 'ERR_LOCK_TIMEOUT')
      assert.equal(await codeOf(reader.upgrade({ timeout: 0 })), 'ERR_LOCK_TIMEOUT')
      assert.equal(await reader.upgrade({ ifAvailable: true }), undefined)
      const aborted = codeOf(reader.upgrade({ signal: AbortSignal.abort() }))
      assert.equal(await aborted, DOMException.ABORT_ERR)
      const upgrading = reader.upgrade()
      await queued()
      assert.equal(await codeOf(reader.upgrade()), 'ERR_LOCK_UPGRADE')
      for (const options of [{}, { timeout: 0 }])
        assert.equal(await codeOf(last.upgrade(options)), 'ERR_LOCK_UPGRADE')
      last()
      ;(await upgrading)()
      const none = { abandoned: 0, deadlocks: 0 }
      assert.deepEqual(
        [lock, other].map((one) => one.snapshot().totals),
        [
          { ...none, acquisitions: 2, contended: 2, timeouts: 2, aborts: 1 },
          // The server has refused the upgrade that could have waited.
          { ...none, acquisitions: 1, contended: 1, timeouts: 0, aborts: 1 },
        ],
      )
      assert.equal(lock.snapshot().oldestWait, undefined)
    })

    it(`count no upgrade that their thread refuses at once: ${diagnostics}`, async () => {
      const lock = new RWLock({ engine: await newEngine(), name: 'refused', diagnostics })
      const [reader, last] = [await lock.acquireRead(), await lock.acquireRead()]
      const upgrading = reader.upgrade()
      for (const options of [{}, { timeout: 50 }, { timeout: 0 }])
        await assert.rejects(last.upgrade(options), { code: 'ERR_LOCK_UPGRADE' })
      assert.equal(lock.snapshot().totals.aborts, 0)
      last()
      ;(await upgrading)()
    })

    it(`report each part of a lease that is given back: ${diagnostics}`, async () => {
      const engine = await newEngine()
      const semaphores = new KeyedSemaphore(3, { engine, diagnostics })
      const weights = []
      const hear = ({ weight }) => weights.push(weight)
      channel('boxoffice:release').subscribe(hear)
      const [, release] = await semaphores.acquire('k', 3)
      semaphores.release('k', 1)
      release()
      release()
      channel('boxoffice:release').unsubscribe(hear)
      assert.deepEqual(weights, [1, 2])
    })
  }
})
