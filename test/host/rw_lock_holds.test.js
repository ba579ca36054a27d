'use strict'
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { mkdtempSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { KeyedRWLock, LockManager, RWLock } = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { removeDirectory, useHosts } = require('../helpers/hosts.js')

/** Longer than any test runs. */
const long = 600_000
const ifAvailable = true

const classes = { RWLock, KeyedRWLock, LockManager }
/** Acquires the lock and keeps it; resolves to whether the grant was abandoned. The hosts run it, too. */
const startOf = {
  RWLock: async (lock, isWriter) =>
    (await lock[isWriter ? 'acquireWrite' : 'acquireRead']()).abandoned,
  KeyedRWLock: async (lock, isWriter) =>
    (await lock[isWriter ? 'acquireWrite' : 'acquireRead']('x')).abandoned,
  LockManager: (lock, isWriter) =>
    new Promise((resolve) => {
      lock.request('x', { mode: isWriter ? 'exclusive' : 'shared' }, (held) => {
        resolve(held.abandoned)
        return new Promise(() => {})
      })
    }),
}

describe('Holds of read-write locks of scope host', function () {
  // The tests start processes.
  this.timeout(120_000)
  const hosts = useHosts()
  let directory
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'boxoffice-test-'))
    // Only after all tests, because locks rest there for longer than the tests run.
    process.once('exit', () => removeDirectory(directory))
  })
  const optionsOf = (name, times) => ({ scope: 'host', name, directory, ...times })
  const open = (name, times, Class = RWLock) => new Class(optionsOf(name, times))
  /** A process with the lock `my.lock`. */
  async function startWith(name, times, kind = 'RWLock') {
    const host = hosts.start()
    await host.does(`my.lock = new boxoffice.${kind}(${JSON.stringify(optionsOf(name, times))})`)
    return host
  }
  const tries = (host, mode) =>
    host.does(`return (await my.lock.acquire${mode}({ ifAvailable: true })) !== undefined`)

  describe('with a minHold', () => {
    it('of a writer keep all others out, though it was released', async () => {
      const name = freshName()
      const times = { minHold: long }
      const lock = open(name, times)
      const other = await startWith(name, times)
      const release = await lock.acquireWrite()
      release()
      release()
      assert.equal(lock.isWriteLocked(), true)
      await lock.onIdle()
      assert.equal(await lock.acquireRead({ ifAvailable }), undefined)
      assert.equal(lock.tryAcquireRead(), undefined)
      assert.equal(lock.tryAcquireWrite(), undefined)
      assert.equal(await tries(other, 'Read'), false)
    })

    it('of a writer end so long after the grant, though it was released', async () => {
      const name = freshName()
      const times = { minHold: 1500 }
      const lock = open(name, times)
      const other = await startWith(name, times)
      const start = performance.now()
      const release = await lock.acquireWrite()
      release()
      release()
      assert.equal(await other.does('return (await my.lock.acquireRead()).abandoned'), false)
      assert.ok(performance.now() - start >= 1499)
    })

    it('of a reader keep writers out, and no readers', async () => {
      const name = freshName()
      const times = { minHold: long }
      const lock = open(name, times)
      const other = await startWith(name, times)
      await lock.runShared(() => {})
      assert.equal(lock.readers, 1)
      assert.equal(await tries(other, 'Write'), false)
      const read = await lock.acquireRead({ ifAvailable })
      assert.notEqual(read, undefined)
      read()
    })

    it('of a reader keep writers out for so long after the grant', async () => {
      const name = freshName()
      const times = { minHold: 1500 }
      const lock = open(name, times)
      const other = await startWith(name, times)
      const start = performance.now()
      await lock.runShared(() => {})
      ;(await lock.acquireRead())()
      await other.does('(await my.lock.acquireWrite())()')
      assert.ok(performance.now() - start >= 1499)
    })

    it('let waiters time out, be aborted and be cancelled meanwhile', async () => {
      const lock = open(freshName(), { minHold: long })
      const fail = async () => {
        throw new Error('no mails today')
      }
      await assert.rejects(lock.runExclusive(fail), { message: 'no mails today' })
      await assert.rejects(lock.acquireRead({ timeout: 10 }), { code: 'ERR_LOCK_TIMEOUT' })
      const controller = new AbortController()
      const waiting = lock.acquireWrite({ signal: controller.signal })
      controller.abort(new Error('enough'))
      await assert.rejects(waiting, { message: 'enough' })
      const cancelled = lock.acquireRead()
      lock.cancel()
      await assert.rejects(cancelled, { message: 'request for lock canceled' })
      assert.equal(lock.snapshot().waiting, 0)
    })

    it('keep readers and writers out after a writer was killed, until so long after its grant', async () => {
      const name = freshName()
      const times = { minHold: 2500 }
      const lock = open(name, times)
      const start = performance.now()
      const other = await startWith(name, times)
      await other.does('await my.lock.acquireWrite()')
      const told = []
      const job = ({ abandoned }) => {
        assert.ok(performance.now() - start >= 2499)
        told.push(abandoned)
      }
      const all = [lock.runShared(job), lock.runExclusive(job), lock.runShared(job)]
      await other.dies()
      await Promise.all(all)
      assert.deepEqual(told.filter(Boolean), [true])
    })

    for (const kind of ['RWLock', 'KeyedRWLock', 'LockManager']) {
      it(`of a ${kind} keep the next caller out for its own minHold, if the dead holder's was longer`, async () => {
        for (const isWriter of [true, false]) {
          const name = freshName()
          const host = await startWith(name, { minHold: long }, kind)
          await host.does(`return (${startOf[kind]})(my.lock, ${isWriter})`)
          await host.dies()
          const lock = open(name, { minHold: 300 }, classes[kind])
          const start = performance.now()
          const abandoned = await within(60_000, startOf[kind](lock, true))
          assert.ok(performance.now() - start >= 299)
          assert.equal(abandoned, isWriter)
        }
      })
    }

    it('shorten the rest of a dead holder, also for callers that try', async () => {
      const name = freshName()
      const [host, heedless] = [await startWith(name, { minHold: long }), await startWith(name)]
      await host.does('await my.lock.acquireWrite()')
      await heedless.does('my.waiting = my.lock.acquireWrite()')
      await host.dies()
      // From then on only the stored end keeps callers out.
      await heedless.does('(await my.waiting)()')
      assert.equal(open(name, { minHold: 300 }).tryAcquireWrite(), undefined)
      const longer = await startWith(name, { minHold: long })
      await within(60_000, longer.does('await my.lock.acquireRead()'))
    })

    it('keep callers out that try while others wait for a killed writer', async () => {
      const name = freshName()
      const times = { minHold: long }
      const lock = open(name, times)
      const other = await startWith(name, times)
      await other.does('await my.lock.acquireWrite()')
      const fail = () => assert.fail('it was admitted')
      const all = [lock.runShared(fail), lock.runExclusive(fail), lock.runShared(fail)]
      await other.dies()
      assert.equal(await lock.acquireRead({ ifAvailable }), undefined)
      assert.equal(lock.tryAcquireRead(), undefined)
      // The dead writer's grant may reach one of them at any time. It then waits for the rest, and
      // its wait can be cancelled once more.
      let isOver = false
      const ends = Promise.allSettled(all).finally(() => {
        isOver = true
      })
      while (!isOver) {
        lock.cancel()
        await new Promise(setImmediate)
      }
      for (const one of await ends) assert.equal(one.reason?.code, 'ERR_LOCK_CANCELED')
    })

    it('keep writers out after a reader was killed', async () => {
      const name = freshName()
      const times = { minHold: 2500 }
      const lock = open(name, times)
      const start = performance.now()
      const other = await startWith(name, times)
      await other.does('await my.lock.acquireRead()')
      await other.dies()
      const read = await lock.acquireRead()
      read[Symbol.dispose]()
      const late = lock.acquireWrite()
      await late
      assert.ok(performance.now() - start >= 2499)
    })

    it('let callers give up that wait for a dead holder', async () => {
      const name = freshName()
      const times = { minHold: long }
      const lock = open(name, times)
      const other = await startWith(name, times)
      await other.does('await my.lock.acquireWrite()')
      await other.dies()
      const late = { code: 'ERR_LOCK_TIMEOUT', message: /within 200 ms/ }
      await assert.rejects(lock.acquireRead({ timeout: 200 }), late)
      const controller = new AbortController()
      const aborted = lock.acquireWrite({ signal: controller.signal })
      const cancelled = lock.acquireRead()
      const isIdle = lock.onIdle()
      await new Promise((resolve) => setTimeout(resolve, 200))
      controller.abort(new Error('enough'))
      await assert.rejects(aborted, { message: 'enough' })
      lock.cancel()
      await assert.rejects(cancelled, { message: 'request for lock canceled' })
      await isIdle
      const third = await startWith(name, times)
      assert.equal(await tries(third, 'Read'), false)
    })

    it('do not make a caller that has waited for a dead holder one waiter too many', async () => {
      const name = freshName()
      const times = { minHold: 1500 }
      const lock = new RWLock({ ...optionsOf(name, times), maxPending: 1 })
      const [other, third] = [await startWith(name, times), await startWith(name)]
      const start = performance.now()
      await other.does('await my.lock.acquireWrite()')
      const waiting = lock.acquireWrite()
      await other.dies()
      // Heeds no minHold, and so is in while our caller waits for the end of one.
      await third.does('my.release = await my.lock.acquireWrite()')
      await new Promise((resolve) => setTimeout(resolve, 1600 - (performance.now() - start)))
      await third.does('my.release()')
      await waiting
    })

    it('keep others out after the writer let go and exited, which is no death', async () => {
      const name = freshName()
      const times = { minHold: 2500 }
      const lock = open(name, times)
      const start = performance.now()
      const other = await startWith(name, times)
      other.does('await my.lock.runExclusive(() => {}); process.exit()')
      await other.ends()
      assert.equal((await lock.acquireRead()).abandoned, false)
      assert.ok(performance.now() - start >= 2499)
    })

    it('are over for the next one after a death long ago', async () => {
      const name = freshName()
      const times = { minHold: 200 }
      for (const method of ['runShared', 'runExclusive']) {
        const other = await startWith(name, times)
        await other.does(`await my.lock.${method}(() => {})`)
        await other.dies()
      }
      await new Promise((resolve) => setTimeout(resolve, 250))
      assert.notEqual(await open(name, times).acquireWrite({ ifAvailable }), undefined)
    })

    it('begin by no grant that no caller has had', async () => {
      const name = freshName()
      const keyed = open(name, { minHold: long }, KeyedRWLock)
      const other = await startWith(name, { minHold: long }, 'KeyedRWLock')
      await other.does("await my.lock.acquireWrite('y')")
      assert.equal(await keyed.acquireRead(['x', 'y'], { ifAvailable }), undefined)
      assert.equal(await keyed.acquireWrite(['x', 'y'], { ifAvailable }), undefined)
      assert.notEqual(await keyed.acquireWrite('x', { ifAvailable }), undefined)
    })

    it('begin by no grants that no caller has had, in whatever order they end', async () => {
      const keyed = open(freshName(), { minHold: long }, KeyedRWLock)
      await keyed.acquireWrite('y')
      for (const order of ['012', '021', '102', '120', '201', '210']) {
        const stops = [0, 1, 2].map(() => new AbortController())
        const tries = stops.map(({ signal }) => keyed.acquireRead([order, 'y'], { signal }))
        const ended = Promise.allSettled(tries)
        await new Promise((resolve) => setImmediate(resolve))
        assert.equal(keyed.isLocked(order), true)
        for (const i of order) {
          stops[i].abort()
          await assert.rejects(tries[i])
        }
        await ended
        assert.notEqual(await keyed.acquireWrite(order, { ifAvailable }), undefined, order)
      }
    })

    it('of a reader outlast its death, though a reader of the same time had its grant in vain', async () => {
      const name = freshName()
      const times = { minHold: long }
      const other = await startWith(name, times, 'KeyedRWLock')
      // As many pairs as get their grants in one millisecond, in either order.
      const isKeptOut = await other.does(`
        await my.lock.acquireWrite('y')
        const both = []
        for (let i = 0; i < 20; i++) {
          both.push(my.lock.acquireRead(['x' + i, 'y'], { timeout: 1 }).catch(({ code }) => code))
          await my.lock.acquireRead('x' + i)
        }
        return (await Promise.all(both)).every((code) => code === 'ERR_LOCK_TIMEOUT')`)
      assert.equal(isKeptOut, true)
      await other.dies()
      const keyed = open(name, times, KeyedRWLock)
      for (let i = 0; i < 20; i++)
        assert.equal(await keyed.acquireWrite(`x${i}`, { ifAvailable }), undefined)
    })

    it('are those of a key', async () => {
      const keyed = open(freshName(), { minHold: long }, KeyedRWLock)
      await keyed.runExclusive('x', () => {})
      assert.equal(await keyed.acquireRead('x', { ifAvailable }), undefined)
      assert.notEqual(await keyed.acquireRead('y', { ifAvailable }), undefined)
    })

    it('of a key leave none behind', async () => {
      const keyed = open(freshName(), { minHold: 200 }, KeyedRWLock)
      await keyed.runExclusive('x', () => {})
      await keyed.runShared('x', () => {})
      await keyed.runExclusive('x', () => {})
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    })

    it('of a key leave none behind when their process ends before', async () => {
      const name = freshName()
      // As many keys as there is room for.
      const times = { minHold: 1000, capacity: 32 }
      const keyed = open(name, times, KeyedRWLock)
      const other = await startWith(name, times, 'KeyedRWLock')
      other.does(`for (let key = 0; key < 64; key++) {
          await my.lock[key % 2 ? 'runExclusive' : 'runShared'](key, () => {})
        }
        process.exit()`)
      await other.ends()
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
      for (let key = 100; key < 164; key++) {
        assert.equal((await keyed.acquireWrite(key, { ifAvailable })).abandoned, false)
      }
    })

    it('of a key outlast readers and writers that died', async () => {
      const name = freshName()
      const times = { minHold: long }
      const keyed = open(name, times, KeyedRWLock)
      for (const mode of ['Read', 'Write']) {
        const other = await startWith(name, times, 'KeyedRWLock')
        await other.does(`await my.lock.acquire${mode}('${mode}')`)
        await other.dies()
        assert.equal(await keyed.acquireWrite(mode, { ifAvailable }), undefined)
      }
    })

    it('of a key end so long after the grants of readers and writers that died', async () => {
      const name = freshName()
      const times = { minHold: 2500 }
      const keyed = open(name, times, KeyedRWLock)
      for (const mode of ['Read', 'Write']) {
        const other = await startWith(name, times, 'KeyedRWLock')
        const start = performance.now()
        await other.does(`await my.lock.acquire${mode}('${mode}')`)
        await other.dies()
        const release = await keyed.acquireWrite(mode)
        assert.ok(performance.now() - start >= 2499)
        release()
      }
      while (keyed.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    })

    it('are for holds that stay what they are', async () => {
      const lock = open(freshName(), { minHold: 10 })
      const unsupported = { code: 'ERR_LOCK_UNSUPPORTED', message: /in the other mode/ }
      const read = await lock.acquireRead()
      await assert.rejects(read.upgrade(), unsupported)
      assert.throws(() => read.tryUpgrade(), unsupported)
      read()
      const write = await lock.acquireWrite()
      assert.throws(() => write.downgrade(), unsupported)
      write()
    })
  })

  describe('with a maxHold', () => {
    it('of a writer end by their signal before the next caller is in, who is told', async () => {
      const lock = open(freshName(), { maxHold: 150 })
      const order = []
      const release = await lock.acquireWrite()
      release.signal.addEventListener('abort', () => order.push('lost'))
      const next = await lock.acquireRead()
      order.push('next')
      assert.deepEqual(order, ['lost', 'next'])
      assert.match(release.signal.reason.message, /maxHold, 150 ms/)
      assert.equal(release.signal.reason.code, 'ERR_LOCK_LOST')
      assert.equal(next.abandoned, true)
      release()
      assert.equal(lock.readers, 1)
      next()
      assert.equal(lock.isLocked(), false)
      assert.equal(next.signal.aborted, true)
    })

    it('of a reader end for a writer of another process, who is told nothing', async () => {
      const name = freshName()
      const times = { maxHold: 2000 }
      const lock = open(name, times)
      const other = await startWith(name, times)
      const { signal } = await lock.acquireRead()
      assert.equal(await other.does('return (await my.lock.acquireWrite()).abandoned'), false)
      assert.equal(signal.reason.code, 'ERR_LOCK_LOST')
    })

    it('begin anew with an upgrade and a downgrade', async () => {
      const lock = open(freshName(), { maxHold: 300 })
      const read = await lock.acquireRead()
      const { signal } = read
      const write = await read.upgrade()
      const again = write.downgrade()
      await once(again.signal, 'abort')
      assert.equal(signal.aborted, false)
      assert.equal(lock.isLocked(), false)
      again()
    })

    it('end a reader that waits to upgrade', async () => {
      const name = freshName()
      const lock = open(name, { maxHold: 300 })
      const other = await startWith(name, { maxHold: long })
      await other.does('await my.lock.acquireRead()')
      const read = await lock.acquireRead()
      await assert.rejects(read.upgrade(), { code: 'ERR_LOCK_NOT_HELD' })
      assert.equal(read.signal.aborted, true)
    })

    it('tell callbacks, whose results come all the same', async () => {
      const lock = open(freshName(), { maxHold: 150 })
      const result = await lock.runExclusive(async ({ signal }) => {
        await once(signal, 'abort')
        return signal.reason.code
      })
      assert.equal(result, 'ERR_LOCK_LOST')
      assert.equal(lock.isLocked(), false)
    })
  })

  it('of a LockManager have both times', async () => {
    const name = freshName()
    const locks = open(name, { maxHold: 150, minHold: 100 }, LockManager)
    const start = performance.now()
    await locks.request('x', () => {})
    await locks.request('x', async ({ signal }) => {
      assert.ok(performance.now() - start >= 99)
      await once(signal, 'abort')
    })
    const [held] = (await locks.query()).held
    assert.equal(held, undefined)
  })

  it('have the same times for all objects of a thread, and no methods that block', async () => {
    const name = freshName()
    const lock = new RWLock({ ...optionsOf(name, { minHold: 100 }), allowBlockingMainThread: true })
    const mismatch = { code: 'ERR_LOCK_MISMATCH', message: /construct it alike/ }
    assert.throws(() => open(name, { minHold: 200 }), mismatch)
    const unsupported = { code: 'ERR_LOCK_UNSUPPORTED', message: /returns a promise/ }
    for (const method of ['acquireReadSync', 'acquireWriteSync']) {
      assert.throws(() => lock[method](), unsupported)
    }
    const read = await lock.acquireRead()
    assert.throws(() => read.upgradeSync(), unsupported)
    const noUpgrade = { code: 'ERR_LOCK_UNSUPPORTED' }
    await assert.rejects(read.upgrade(), noUpgrade)
    await assert.rejects(read.upgrade({ ifAvailable: true }), noUpgrade)
    read()
  })
})
