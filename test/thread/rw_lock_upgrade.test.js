'use strict'
// From reader to writer and back, in one thread.
const assert = require('node:assert/strict')
const { E_CANCELED, RWLock } = require('../..')
const { outcome, settled } = require('../helpers/keyed.js')
const { note } = require('../helpers/promises.js')
const { withNewLock } = require('../helpers/rw_lock.js')
const { useFakeTimers } = require('../helpers/timers.js')

const notHeld = { code: 'ERR_LOCK_NOT_HELD', message: /^this releaser of the read-write lock / }
const refusedUpgrade = { code: 'ERR_LOCK_UPGRADE', message: /^another reader of the read-write / }
const boom = new Error('boom')

describe('RWLock: upgrade', () => {
  let lock
  const set = (fresh) => {
    lock = fresh
  }
  withNewLock(set, { allowBlockingMainThread: true })

  it('the only reader becomes the writer at once, ahead of every queued waiter', async () => {
    for (const way of ['upgrade', 'tryUpgrade', 'upgradeSync']) {
      for (const isWaitedFor of [false, true]) {
        const reader = await lock.acquireRead()
        const log = []
        const waits = isWaitedFor ? [lock.acquireWrite(9), lock.acquireRead()] : []
        const noted = waits.map((wait, i) => note(log, i, wait))
        const promise = reader[way]()
        assert.ok(lock.isWriteLocked(), way)
        const writer = await promise
        assert.equal(writer.abandoned, false)
        reader()
        assert.ok(lock.isWriteLocked(), 'the grant of the reader is over')
        await settled()
        assert.deepEqual(log, [])
        writer()
        for (const wait of noted) (await wait)()
      }
    }
  })

  it('waits for the other readers, ahead of every waiter; no new reader is admitted', async () => {
    const [one, two, three] = [lock.tryAcquireRead(), lock.tryAcquireRead(), lock.tryAcquireRead()]
    const log = []
    const first = note(log, 'w', lock.acquireWrite(Infinity))
    const upgraded = note(log, 'upgraded', one.upgrade())
    const urgent = note(log, 'urgent', lock.acquireRead(Infinity))
    two()
    await settled()
    assert.deepEqual([log, lock.readers, lock.tryAcquireRead()], [[], 2, undefined])
    three()
    assert.ok(lock.isWriteLocked())
    ;(await upgraded)()
    ;(await first)()
    ;(await urgent)()
    assert.deepEqual(log, ['upgraded', 'w', 'urgent'])
  })

  it('refuses the second of two upgrades at once, and its reader keeps reading', async () => {
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const first = outcome(one.upgrade())
    await assert.rejects(two.upgrade(), refusedUpgrade)
    await assert.rejects(two.upgrade({ timeout: 0 }), refusedUpgrade)
    await assert.rejects(one.upgrade(), refusedUpgrade, 'it is doing so already')
    assert.equal(two.tryUpgrade(), undefined)
    assert.equal(lock.readers, 2)
    two()
    await settled()
    first.value()
  })

  it('when it gives up, in any way, the reader keeps reading, and new readers are admitted', async () => {
    const ends = {
      abort: { reason: boom, end: (controller) => controller.abort(boom) },
      cancel: { reason: E_CANCELED, end: () => lock.cancel() },
      'cancel with a reason': { reason: boom, end: () => lock.cancel(boom) },
    }
    for (const { reason, end } of Object.values(ends)) {
      const controller = new AbortController()
      const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
      const upgrading = outcome(one.upgrade({ signal: controller.signal }))
      end(controller)
      await settled()
      assert.equal(upgrading.reason, reason)
      assert.equal(lock.readers, 2)
      lock.tryAcquireRead()()
      const again = outcome(two.upgrade())
      one()
      await settled()
      again.value()
    }
  })

  it('an abort admits the readers that it has kept out, and no other waiter', async () => {
    const controller = new AbortController()
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const upgrading = outcome(one.upgrade({ signal: controller.signal }))
    const waits = [lock.acquireRead(), lock.acquireRead(), lock.acquireWrite(), lock.acquireRead()]
    const seen = waits.map(outcome)
    controller.abort(boom)
    await settled()
    assert.equal(upgrading.reason, boom)
    const states = seen.map(({ state }) => state)
    assert.deepEqual(states, ['fulfilled', 'fulfilled', 'pending', 'pending'])
    for (const release of [one, two, seen[0].value, seen[1].value]) release()
    ;(await waits[2])()
    ;(await waits[3])()
  })

  it('a timeout of 0 does not wait, and an aborted signal rejects', async () => {
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    await assert.rejects(one.upgrade({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
    await assert.rejects(one.upgrade({ signal: AbortSignal.abort(boom) }), boom)
    assert.equal(lock.readers, 2)
    lock.tryAcquireRead()()
    two()
    await assert.rejects(one.upgrade({ signal: AbortSignal.abort(boom) }), boom)
    assert.equal(lock.readers, 1)
    ;(await one.upgrade({ timeout: 0 }))()
  })

  it('a reader that releases during its upgrade gives up both', async () => {
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const upgrading = outcome(one.upgrade())
    const behind = outcome(lock.acquireRead())
    one()
    await settled()
    assert.equal(upgrading.reason.code, 'ERR_LOCK_NOT_HELD')
    assert.equal(behind.state, 'fulfilled')
    assert.equal(lock.readers, 2)
    one()
    assert.equal(lock.readers, 2)
    two()
    behind.value()
    // In the turn of its grant as well.
    const [three, four] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const granted = outcome(three.upgrade())
    four()
    three()
    await settled()
    assert.equal(granted.state, 'fulfilled')
    assert.ok(lock.isWriteLocked(), 'three has been its releaser no more')
    granted.value()
  })

  it('a releaser whose grant is over upgrades nothing', async () => {
    const reader = await lock.acquireRead()
    const writer = await reader.upgrade()
    const others = () => {
      assert.throws(() => reader.upgrade(), notHeld)
      assert.throws(() => reader.tryUpgrade(), notHeld)
      assert.throws(() => reader.upgradeSync(), notHeld)
    }
    others()
    writer()
    others()
    const other = await lock.acquireRead()
    others()
    other()
    assert.throws(() => writer.downgrade(), notHeld)
  })

  it('options whose getters release upgrade nothing', async () => {
    for (const way of ['upgrade', 'upgradeSync']) {
      const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
      const options = {
        get timeout() {
          one()
          return undefined
        },
      }
      assert.throws(() => one[way](options), notHeld)
      assert.equal(lock.readers, 1)
      assert.ok(!lock.isWriteLocked(), 'another one reads')
      two()
    }
  })

  it('refuses invalid input at once, and the reader keeps reading', async () => {
    const reader = await lock.acquireRead()
    for (const bad of [null, 'a', { timeout: '1' }, { signal: {} }, { priority: '1' }]) {
      assert.throws(() => reader.upgrade(bad), TypeError)
    }
    for (const bad of [{ timeout: -1 }, { timeout: NaN }]) {
      assert.throws(() => reader.upgrade(bad), RangeError)
      assert.throws(() => reader.upgradeSync(bad), RangeError)
    }
    for (const bad of [null, 'a', { signal: new AbortController().signal }]) {
      assert.throws(() => reader.upgradeSync(bad), TypeError)
    }
    assert.equal(lock.readers, 1)
    reader()
    const plain = new RWLock().tryAcquireRead()
    assert.throws(() => plain.upgradeSync(), { name: 'TypeError', message: /main thread/ })
  })

  it('upgradeSync does not wait for a reader of its own thread', async () => {
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    assert.throws(() => one.upgradeSync({ timeout: 1 }), { code: 'ERR_LOCK_DEADLOCK' })
    assert.equal(one.tryUpgrade(), undefined)
    assert.equal(lock.readers, 2)
    two()
    one.upgradeSync()()
  })
})

describe('RWLock: upgrade, with timers', () => {
  const fake = useFakeTimers()

  it('times out, and the reader keeps reading', async () => {
    const lock = new RWLock()
    const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
    const upgrading = outcome(one.upgrade({ timeout: 10 }))
    const reader = outcome(lock.acquireRead())
    fake.clock.tick(9)
    await settled()
    assert.deepEqual([upgrading.state, reader.state], ['pending', 'pending'])
    fake.clock.tick(1)
    await settled()
    assert.equal(upgrading.reason.code, 'ERR_LOCK_TIMEOUT')
    assert.equal(lock.readers, 3)
    for (const release of [one, two, reader.value]) release()
    assert.deepEqual([lock.isLocked(), fake.clock.pending], [false, 0])
  })
})

describe('RWLock: downgrade', () => {
  let lock
  withNewLock((fresh) => {
    lock = fresh
  })

  it('makes the writer a reader, and admits readers', async () => {
    const writer = await lock.acquireWrite()
    const reader = writer.downgrade()
    assert.deepEqual([lock.readers, lock.isWriteLocked(), reader.abandoned], [1, false, false])
    writer()
    assert.equal(lock.readers, 1, 'the grant of the writer is over')
    assert.throws(() => writer.downgrade(), notHeld)
    const other = lock.tryAcquireRead()
    assert.equal(lock.readers, 2)
    other()
    reader()
  })

  it('admits the readers at the head of the queue, and no writer in between', async () => {
    const writer = await lock.acquireWrite()
    const log = []
    const ways = ['Read', 'Read', 'Write', 'Read']
    const waits = ways.map((mode, i) => note(log, `${mode} ${i}`, lock[`acquire${mode}`]()))
    const reader = writer.downgrade()
    assert.equal(lock.readers, 3)
    await settled()
    assert.deepEqual(log, ['Read 0', 'Read 1'])
    ;(await waits[0])()
    ;(await waits[1])()
    await settled()
    assert.equal(log.length, 2)
    reader()
    ;(await waits[2])()
    ;(await waits[3])()
  })

  it('admits no waiter behind a writer at the head', async () => {
    const writer = await lock.acquireWrite()
    const next = outcome(lock.acquireWrite())
    const behind = outcome(lock.acquireRead())
    const reader = writer.downgrade()
    await settled()
    assert.deepEqual([lock.readers, next.state, behind.state], [1, 'pending', 'pending'])
    reader()
    await settled()
    next.value()
    await settled()
    behind.value()
  })

  it('works repeatedly, with waiters and without', async () => {
    for (const isWaitedFor of [false, true]) {
      let reader = lock.tryAcquireRead()
      const waiting = isWaitedFor ? outcome(lock.acquireWrite()) : undefined
      for (let i = 0; i < 10; i++) {
        const writer = await reader.upgrade()
        assert.ok(lock.isWriteLocked())
        reader = writer.downgrade()
        assert.equal(lock.readers, 1)
      }
      reader()
      await settled()
      waiting?.value()
    }
  })

  it('works with `using`: the former grant is over', async () => {
    const reader = await lock.acquireRead()
    {
      const writer = await reader.upgrade()
      writer[Symbol.dispose]()
    }
    assert.ok(!lock.isLocked())
    reader[Symbol.dispose]()
    assert.ok(!lock.isLocked())
  })
})
