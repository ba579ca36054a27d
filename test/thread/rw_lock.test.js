'use strict'
// A read-write lock in one thread, line by line of its contract. Callbacks and input:
// rw_lock_run.test.js; upgrade and downgrade: rw_lock_upgrade.test.js.
const assert = require('node:assert/strict')
const { E_CANCELED, RWLock } = require('../..')
const { holdersHint } = require('../helpers/holders_hint.js')
const { outcome, settled } = require('../helpers/keyed.js')
const { note } = require('../helpers/promises.js')
const { withNewLock } = require('../helpers/rw_lock.js')
const { useFakeTimers } = require('../helpers/timers.js')

const modes = ['Read', 'Write']
const boom = new Error('boom')

describe('RWLock', () => {
  let lock
  withNewLock((fresh) => {
    lock = fresh
  })

  it('readers share it, and are counted', async () => {
    const readers = await Promise.all([lock.acquireRead(), lock.acquireRead()])
    readers.push(lock.tryAcquireRead())
    for (let left = 3; left > 0; left--) {
      assert.deepEqual([lock.readers, lock.isLocked(), lock.isWriteLocked()], [left, true, false])
      assert.equal(lock.tryAcquireWrite(), undefined)
      assert.equal(readers.pop()(), undefined)
    }
  })

  it('a writer is alone', async () => {
    const writer = await lock.acquireWrite()
    assert.deepEqual([lock.readers, lock.isLocked(), lock.isWriteLocked()], [0, true, true])
    assert.equal(lock.tryAcquireRead(), undefined)
    assert.equal(lock.tryAcquireWrite(), undefined)
    writer()
  })

  it('is locked before acquire returns, and free before release returns', async () => {
    for (const mode of modes) {
      const promise = lock[`acquire${mode}`]()
      assert.ok(promise instanceof Promise)
      assert.ok(lock.isLocked())
      const release = await promise
      assert.equal(release.abandoned, false)
      release()
      assert.ok(!lock.isLocked())
    }
  })

  it('a newcomer goes behind all waiters: a reader behind a writer, too', async () => {
    const log = []
    const reader = await lock.acquireRead()
    const writer = note(log, 'w', lock.acquireWrite())
    const later = [1, 2].map((i) => note(log, `r${i}`, lock.acquireRead()))
    const last = note(log, 'w2', lock.acquireWrite())
    assert.equal(lock.tryAcquireRead(), undefined)
    await settled()
    assert.deepEqual([log, lock.readers], [[], 1])
    reader()
    assert.ok(lock.isWriteLocked(), 'it is handed over in the same turn')
    await settled()
    assert.deepEqual(log, ['w'])
    ;(await writer)()
    assert.equal(lock.readers, 2)
    await settled()
    assert.deepEqual(log, ['w', 'r1', 'r2'])
    ;(await later[0])()
    await settled()
    assert.deepEqual(log, ['w', 'r1', 'r2'])
    ;(await later[1])()
    ;(await last)()
    assert.deepEqual(log, ['w', 'r1', 'r2', 'w2'])
  })

  it('higher priorities go first, ahead of earlier waiters', async () => {
    const log = []
    const enter = (mode, priority) =>
      note(log, `${mode} ${priority}`, lock[`acquire${mode}`](priority)).then((release) =>
        release(),
      )
    const writer = await lock.acquireWrite()
    const all = [enter('Read', 0), enter('Write', { priority: 1 }), enter('Read', 2)]
    all.push(enter('Write', 0), enter('Read', -Infinity), enter('Write', Infinity))
    writer()
    await Promise.all(all)
    const expected = ['Write Infinity', 'Read 2', 'Write [object Object]', 'Read 0', 'Write 0']
    assert.deepEqual(log, [...expected, 'Read -Infinity'])
    const reader = await lock.acquireRead()
    const waiting = lock.acquireWrite()
    const urgent = await lock.acquireRead(1)
    assert.equal(lock.readers, 2)
    reader()
    urgent()
    ;(await waiting)()
  })

  it('neither side starves: the wait is bounded by the earlier waiters', async () => {
    let isOver = false
    let entries = 0
    const visit = async (mode) => {
      while (!isOver) {
        const release = await lock[`acquire${mode}`]()
        entries++
        await settled()
        release()
      }
    }
    for (const [many, one] of [modes, modes.toReversed()]) {
      isOver = false
      const crowd = Array.from({ length: 8 }, (_, i) =>
        // Never a moment without a reader.
        settled()
          .then(() => (i % 2 === 0 ? settled() : undefined))
          .then(() => visit(many)),
      )
      for (let i = 0; i < 3; i++) await settled()
      for (let i = 0; i < 20; i++) {
        const before = entries
        const release = await lock[`acquire${one}`]()
        const passed = entries - before
        // The holders, and the earlier waiters.
        assert.ok(passed <= 8, `${passed} have been let in before`)
        release()
        await settled()
      }
      isOver = true
      await Promise.all(crowd)
    }
  })

  it('a timeout of 0 acquires without waiting or not at all', async () => {
    for (const mode of modes) {
      ;(await lock[`acquire${mode}`]({ timeout: 0 }))()
      const writer = await lock.acquireWrite()
      await assert.rejects(lock[`acquire${mode}`]({ timeout: 0 }), { code: 'ERR_LOCK_TIMEOUT' })
      writer()
    }
  })

  it('a signal that is aborted already rejects at once; after the grant it has no effect', async () => {
    for (const mode of modes) {
      const signal = AbortSignal.abort(boom)
      await assert.rejects(lock[`acquire${mode}`]({ signal }), boom)
      assert.ok(!lock.isLocked())
      const controller = new AbortController()
      const release = await lock[`acquire${mode}`]({ signal: controller.signal })
      controller.abort(boom)
      assert.ok(lock.isLocked())
      release()
    }
  })

  it('every race of a grant with giving up has one outcome', async () => {
    for (const mode of modes) {
      const writer = await lock.acquireWrite()
      const controller = new AbortController()
      const waiting = outcome(lock[`acquire${mode}`]({ signal: controller.signal }))
      writer()
      controller.abort(boom)
      lock.cancel()
      await settled()
      assert.equal(waiting.state, 'fulfilled')
      waiting.value()
    }
  })

  it('cancel() rejects waiters, and leaves holders alone', async () => {
    const reader = await lock.acquireRead()
    const waits = [lock.acquireWrite(), lock.acquireRead(), lock.acquireWrite({ timeout: 1e9 })]
    const seen = waits.map(outcome)
    assert.equal(lock.cancel(), undefined)
    await settled()
    for (const { reason } of seen) assert.equal(reason, E_CANCELED)
    assert.equal(lock.readers, 1)
    const again = outcome(lock.acquireWrite())
    lock.cancel(null)
    await settled()
    assert.deepEqual([again.state, again.reason], ['rejected', null])
    reader()
    for (const options of [boom, { cancelError: boom }]) {
      const own = new RWLock(options)
      const writer = own.tryAcquireWrite()
      const waiting = own.acquireRead()
      own.cancel()
      await assert.rejects(waiting, boom)
      writer()
    }
  })

  it('a releaser acts once, under any of its names, and never on a later grant', async () => {
    const ways = [
      (release) => release(),
      (release) => release.release(),
      (release) => release[Symbol.dispose](),
      (release) => release[Symbol.asyncDispose](),
    ]
    for (const mode of modes) {
      for (const way of ways) {
        const release = await lock[`acquire${mode}`]()
        await way(release)
        assert.ok(!lock.isLocked())
        const [one, two] = [lock.tryAcquireRead(), lock.tryAcquireRead()]
        for (const again of ways) await again(release)
        assert.equal(lock.readers, 2)
        one()
        one()
        assert.equal(lock.readers, 1)
        two()
        const writer = lock.tryAcquireWrite()
        for (const again of ways) await again(release)
        assert.ok(lock.isWriteLocked())
        writer()
      }
    }
  })
})

describe('RWLock, with timers', () => {
  const fake = useFakeTimers()

  it('a waiter that gives up leaves the queue, and the waiters behind it are admitted', async () => {
    const lock = new RWLock()
    await lock.acquireRead()
    const controller = new AbortController()
    const late = outcome(lock.acquireWrite({ timeout: 5 }))
    const aborted = outcome(lock.acquireWrite({ signal: controller.signal }))
    const behind = outcome(lock.acquireRead({ timeout: 1e9 }))
    controller.abort(boom)
    await settled()
    assert.equal(aborted.reason, boom)
    assert.equal(behind.state, 'pending')
    fake.clock.tick(5)
    await settled()
    const message = `the read-write lock was not available within 5 ms${holdersHint}`
    assert.deepEqual([late.reason.code, late.reason.message], ['ERR_LOCK_TIMEOUT', message])
    assert.equal(lock.readers, 2)
  })

  it('leaves no timer and no listener behind', async () => {
    const lock = new RWLock()
    const signal = new EventTarget()
    signal.aborted = false
    let listeners = 0
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args) => addEventListener.apply(signal, args, listeners++)
    signal.removeEventListener = (...args) => removeEventListener.apply(signal, args, listeners--)
    const writer = await lock.acquireWrite()
    const waits = ['Read', 'Write'].map((mode) => lock[`acquire${mode}`]({ timeout: 10, signal }))
    const ended = Promise.allSettled(waits)
    // Two timers, and one listener for both waits.
    assert.deepEqual([fake.clock.pending, listeners], [2, 1])
    fake.clock.tick(9)
    writer()
    const reader = await waits[0]
    assert.deepEqual([fake.clock.pending, listeners], [1, 1])
    fake.clock.tick(1)
    assert.deepEqual([fake.clock.pending, listeners], [0, 0])
    reader()
    const [, { reason }] = await ended
    assert.equal(reason.code, 'ERR_LOCK_TIMEOUT')
    assert.ok(!lock.isLocked())
  })
})
