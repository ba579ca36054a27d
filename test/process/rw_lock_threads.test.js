'use strict'
// A read-write lock that several threads share. Calls that would wait for themselves:
// rw_lock_blocking.test.js; deaths: rw_lock_deaths.test.js.
const assert = require('node:assert/strict')
const { Mutex, RWLock } = require('../..')
const { freshName, sleep, useAgents } = require('../helpers/agents.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { queued } = require('../helpers/promises.js')

/** Longer than a waiter may be overtaken: from then on the lock is handed to the head of the queue. */
const patience = 20
const deadlock = { code: 'ERR_LOCK_DEADLOCK' }
const head = 'const lock = (my.lock ??= new boxoffice.RWLock(workerData));'
const modes = ['Read', 'Write']
const allowed = { allowBlockingMainThread: true }

const ways = {
  'by its name': () => ({ name: freshName() }),
  'by memory': () => ({ buffer: new RWLock({ shared: true }).buffer }),
  'somewhere in memory': () => ({ buffer: new SharedArrayBuffer(64), byteOffset: 20 }),
}

for (const [way, at] of Object.entries(ways)) {
  describe(`RWLock of several threads, ${way}`, () => {
    const agent = useAgents()
    let where
    let lock
    let worker
    beforeEach(() => {
      where = at()
      lock = new RWLock({ ...where, ...allowed })
      worker = agent(where)
    })
    const does = (code) => worker.does(head + code)
    const begins = (code) => worker.begins(head + code)
    /** { done }: the result of `code`, which blocks. Resolves when it is queued. */
    const blocks = async (code) => {
      const { done } = await begins(`say(1); ${code}`)
      await queued(lock)
      return { done }
    }

    it('readers of all threads share it, a writer keeps all others out', async () => {
      const reader = await lock.acquireRead()
      await does('my.reader = await lock.acquireRead()')
      assert.equal(lock.readers, 2)
      assert.equal(lock.tryAcquireWrite(), undefined)
      reader()
      await does('my.reader(); my.writer = await lock.acquireWrite()')
      assert.deepEqual([lock.isWriteLocked(), lock.readers], [true, 0])
      for (const mode of modes) assert.equal(lock[`tryAcquire${mode}`](), undefined)
      const waiting = lock.acquireRead()
      await does('my.writer()')
      ;(await waiting)()
      assert.equal(lock.isLocked(), false)
    })

    it('blocked threads and promises share one queue', async () => {
      const writer = await lock.acquireWrite()
      const { done: read } = await blocks('lock.acquireReadSync()(); return "read"')
      const reader = outcome(lock.acquireRead())
      const second = outcome(lock.acquireWrite())
      await sleep(patience)
      writer()
      await read
      while (reader.state === 'pending') await settled()
      assert.equal(second.state, 'pending')
      reader.value()
      while (second.state === 'pending') await settled()
      second.value()
    })

    it('a reader of another thread waits behind a queued writer', async () => {
      const reader = await lock.acquireRead()
      const writer = outcome(lock.acquireWrite())
      assert.equal(await does('return lock.tryAcquireRead()'), undefined)
      const { done } = await begins('say(1); lock.acquireReadSync()(); return "in"')
      const behind = outcome(done)
      await queued(lock, 2)
      await sleep(patience)
      reader()
      while (writer.state === 'pending') await settled()
      assert.deepEqual([lock.isWriteLocked(), behind.state], [true, 'pending'])
      writer.value()
      assert.equal(await done, 'in')
    })

    it('a blocking call times out', async () => {
      await does('my.release = await lock.acquireWrite()')
      for (const mode of modes) {
        for (const timeout of [0, 5]) {
          const begin = performance.now()
          const advice = timeout === 0 ? '' : '; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it'
          const late = {
            code: 'ERR_LOCK_TIMEOUT',
            message: new RegExp(` within ${timeout} ms${advice}$`),
          }
          assert.throws(() => lock[`acquire${mode}Sync`]({ timeout }), late)
          assert.ok(performance.now() - begin >= timeout - 0.5)
        }
      }
      await does('my.release()')
      assert.equal(
        lock.runSharedSync(() => lock.readers),
        1,
      )
      assert.equal(
        lock.runExclusiveSync(() => lock.isWriteLocked()),
        true,
      )
    })

    it('an upgrade waits for the readers of other threads only', async () => {
      const reader = await lock.acquireRead()
      await does('my.reader = await lock.acquireRead()')
      const upgrading = outcome(reader.upgrade())
      assert.equal(await does('return lock.tryAcquireRead()'), undefined)
      assert.equal(await does('return codeOf(() => my.reader.upgrade())'), 'ERR_LOCK_UPGRADE')
      assert.equal(await does('return codeOf(() => my.reader.upgradeSync())'), 'ERR_LOCK_UPGRADE')
      assert.equal(await does('return my.reader.tryUpgrade()'), undefined)
      assert.equal(lock.readers, 2)
      const { done } = await begins('my.reader(); say(1); lock.acquireWriteSync()(); return "in"')
      while (upgrading.state === 'pending') await settled()
      assert.ok(lock.isWriteLocked())
      upgrading.value()
      assert.equal(await done, 'in')
    })

    it('a reader that has become the writer, and does not know yet, does not upgrade twice', async () => {
      const flag = new Int32Array(new SharedArrayBuffer(8))
      const other = agent({ where, flag })
      const { done } = await other.begins(`const { flag, where } = workerData
        const reader = new boxoffice.RWLock(where).acquireReadSync()
        say(1)
        Atomics.wait(flag, 0, 0)
        reader()
        Atomics.store(flag, 1, 1)
        Atomics.notify(flag, 1)`)
      const reader = await lock.acquireRead()
      const upgrading = reader.upgrade()
      Atomics.store(flag, 0, 1)
      Atomics.notify(flag, 0)
      Atomics.wait(flag, 1, 0)
      assert.ok(lock.isWriteLocked())
      const refused = { code: 'ERR_LOCK_UPGRADE' }
      assert.equal(reader.tryUpgrade(), undefined)
      assert.throws(() => reader.upgradeSync(), refused)
      const again = [reader.upgrade(), reader.upgrade({ timeout: 0 })]
      for (const one of again) await assert.rejects(one, refused)
      ;(await upgrading)()
      await done
      assert.equal(lock.isLocked(), false)
    })

    it('upgradeSync blocks until the other readers end, or times out and keeps reading', async () => {
      const reader = await lock.acquireRead()
      const late =
        'my.reader ??= lock.acquireReadSync(); return codeOf(() => my.reader.upgradeSync({ timeout: 5 }))'
      assert.equal(await does(late), 'ERR_LOCK_TIMEOUT')
      assert.equal(lock.readers, 2)
      lock.tryAcquireRead()()
      const { done } = await begins(`say(1); const writer = my.reader.upgradeSync()
        say(lock.isWriteLocked()); writer.downgrade()(); return lock.isWriteLocked()`)
      await queued(lock)
      assert.equal(lock.tryAcquireRead(), undefined, 'no new readers meanwhile')
      reader()
      assert.equal(await done, false)
      assert.equal(lock.isLocked(), false)
    })

    it('a downgrade admits readers of other threads, and no writer', async () => {
      const writer = await lock.acquireWrite()
      const { done } = await blocks('my.reader = lock.acquireReadSync(); return "in"')
      const behind = outcome(lock.acquireWrite())
      const reader = writer.downgrade()
      assert.equal(await done, 'in')
      assert.deepEqual([lock.readers, behind.state], [2, 'pending'])
      reader()
      await does('my.reader()')
      while (behind.state === 'pending') await settled()
      behind.value()
    })

    it('tries do not overtake an invited promise of their own thread', async () => {
      let seen = 0
      for (let i = 0; i < 200 && seen < 3; i++) {
        const flag = new Int32Array(new SharedArrayBuffer(8))
        const other = agent({ where, flag })
        const { done } = await other.begins(`const { flag, where } = workerData
          const writer = new boxoffice.RWLock(where).acquireWriteSync()
          say(1)
          while (Atomics.load(flag, 0) === 0);
          writer()
          Atomics.store(flag, 1, 1)
          Atomics.notify(flag, 1)`)
        const waiting = lock.acquireWrite()
        Atomics.store(flag, 0, 1)
        Atomics.wait(flag, 1, 0)
        // Unless its patience was over, and the lock has been handed to it.
        if (!lock.isLocked()) seen++
        for (const mode of modes) assert.equal(lock[`tryAcquire${mode}`](), undefined)
        ;(await waiting)()
        await done
        await other.dies()
      }
      assert.ok(seen > 0)
    })

    it('cancel() is for waiters of its own thread', async () => {
      const held = await lock.acquireWrite()
      const { done: theirs } = await blocks('lock.acquireReadSync()(); return "in"')
      const ours = outcome(lock.acquireRead())
      lock.cancel('cancelled')
      await settled()
      assert.equal(ours.reason, 'cancelled')
      held()
      assert.equal(await theirs, 'in')
    })
  })
}

describe('RWLock: its buffer', () => {
  const agent = useAgents()

  it('supports objects made while it is held, awaited and upgraded', async () => {
    const lock = new RWLock({ shared: true })
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const log = []
    const note = (name) => (release) => {
      log.push(name)
      release()
    }
    const waits = [
      lock.acquireWrite().then(note('w')),
      lock.acquireRead().then(note('r')),
      lock.acquireWrite({ priority: 1, timeout: 1e9 }).then(note('w1')),
      one.upgrade({ timeout: 1e9 }).then(note('upgraded')),
    ]
    const other = new RWLock({ buffer: lock.buffer })
    assert.deepEqual([lock.byteOffset, other.readers], [0, 2])
    await settled()
    assert.equal(other.tryAcquireRead(), undefined)
    two()
    assert.ok(other.isWriteLocked())
    await Promise.all(waits)
    assert.deepEqual(log, ['upgraded', 'w1', 'w', 'r'])
    assert.equal(other.isLocked(), false)
  })

  it('keeps a pending upgrade, which may give up, or be too late for that', async () => {
    const lock = new RWLock({ shared: true })
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const aborted = one.upgrade()
    const worker = agent({ buffer: lock.buffer })
    const cancelled = assert.rejects(aborted, { code: 'ERR_LOCK_CANCELED' })
    lock.cancel()
    await cancelled
    assert.equal(
      await worker.does(`${head} my.reader = lock.tryAcquireRead(); return lock.readers`),
      3,
    )
    two()
    const upgrading = outcome(one.upgrade())
    const { done } = await worker.begins(`${head} say(1); sleep(${patience}); my.reader()`)
    // It is the writer before this thread has read the completion.
    while (!lock.isWriteLocked());
    one()
    await done
    while (upgrading.state === 'pending') await settled()
    assert.equal(upgrading.reason.code, 'ERR_LOCK_NOT_HELD')
    assert.equal(lock.isLocked(), false)
  })

  it('a writer from before another thread opened it stays the writer', async () => {
    const lock = new RWLock({ shared: true })
    const writer = lock.tryAcquireWrite()
    const waiting = lock.acquireRead()
    const worker = agent({ buffer: lock.buffer })
    assert.equal(await worker.does(`${head} return lock.isWriteLocked()`), true)
    const reader = writer.downgrade()
    ;(await waiting)()
    assert.equal(await worker.does(`${head} return lock.readers`), 1)
    reader()
    assert.equal(await worker.does(`${head} return lock.isLocked()`), false)
  })

  it('holds no lock of another kind, and a lock with a name has no buffer', () => {
    const buffer = new SharedArrayBuffer(8)
    const mutex = new Mutex({ buffer })
    const mismatch = { code: 'ERR_LOCK_MISMATCH', message: /^the read-write lock: / }
    assert.throws(() => new RWLock({ buffer }), mismatch)
    const lock = new RWLock({ buffer, byteOffset: 4 })
    assert.throws(() => new Mutex({ buffer, byteOffset: 4 }), { code: 'ERR_LOCK_MISMATCH' })
    assert.equal(mutex.isLocked() || lock.isLocked(), false)
    const named = new RWLock({ name: freshName() })
    assert.throws(() => named.buffer, TypeError)
  })

  it('its lock is named in errors', async () => {
    const lock = new RWLock({ name: freshName(), ...allowed })
    const writer = await lock.acquireWrite()
    const message = /^the read-write lock "test /
    await assert.rejects(lock.acquireRead({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT', message })
    assert.throws(() => lock.acquireReadSync(), { ...deadlock, message })
    writer()
  })
})
