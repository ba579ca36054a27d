'use strict'
const assert = require('node:assert/strict')
const { Mutex } = require('../..')
const { kinds } = require('../helpers/kinds.js')
const { describeQueue, drain } = require('../helpers/queue_suite.js')
const { assertIdle, note, turn, watch } = require('../helpers/promises.js')
const { describeRun } = require('../helpers/run_suite.js')

/** A held mutex, its holder, and a log. */
async function held() {
  const mutex = new Mutex()
  const release = await mutex.acquire()
  return { mutex, release, log: [] }
}

const [kind] = kinds
describeQueue(kind)
describeRun(kind, 'runExclusive')
describeRun(kind, 'executeLocked')

describe('Mutex: releasers', () => {
  for (const [name, use] of [
    ['called', (releaser) => releaser()],
    ['release()', (releaser) => releaser.release()],
    ['release alone', ({ release }) => release()],
    ['Symbol.dispose', (releaser) => releaser[Symbol.dispose]()],
  ]) {
    it(`releases once: ${name}`, async () => {
      const { mutex, release } = await held()
      const next = watch(mutex.acquire())
      assert.equal(use(release), undefined)
      await turn()
      assert.equal(next.state, 'resolved')
      use(release)
      assert.equal(mutex.isLocked(), true, 'it let go of another')
      use(next.value)
      assert.equal(mutex.isLocked(), false)
    })
  }

  it('releases at once with Symbol.asyncDispose, which returns a promise', async () => {
    const { mutex, release } = await held()
    const promise = release[Symbol.asyncDispose]()
    assert.equal(mutex.isLocked(), false)
    assert.equal(await promise, undefined)
    assert.ok(promise instanceof Promise)
    const next = await mutex.acquire()
    await release[Symbol.asyncDispose]()
    assert.equal(mutex.isLocked(), true)
    next()
  })

  it('reports no death', async () => {
    const { mutex, release } = await held()
    assert.equal(release.abandoned, false)
    const next = mutex.acquire()
    release()
    assert.equal((await next).abandoned, false)
    mutex.release()
    assert.equal(mutex.tryAcquire().abandoned, false)
  })

  it('does nothing once its grant is over, however it ended', async () => {
    const { mutex, release: stale } = await held()
    mutex.release()
    stale()
    assert.equal(mutex.isLocked(), false)
    assert.equal(mutex.tryLock(), true)
    stale()
    assert.equal(mutex.isLocked(), true)
    mutex.unlock()
    const current = mutex.tryAcquire()
    stale()
    assert.equal(mutex.isLocked(), true)
    const waiting = watch(mutex.acquire())
    mutex.release()
    current()
    await turn()
    assert.equal(waiting.state, 'resolved')
    assert.equal(mutex.isLocked(), true)
    waiting.value()
    assert.equal(mutex.isLocked(), false)
  })

  it('does not affect the next holder when runExclusive ends after mutex.release()', async () => {
    const mutex = new Mutex()
    let end
    const running = mutex.runExclusive(() => new Promise((resolve) => (end = resolve)))
    await turn()
    mutex.release()
    const next = await mutex.acquire()
    end()
    await running
    assert.equal(mutex.isLocked(), true)
    next()
    await assertIdle(mutex)
  })

  for (const queued of [false, true]) {
    const when = queued ? 'admitted from the line' : 'admitted at once'
    it(`does not affect the next holder when released before its callback begins: ${when}`, async () => {
      const mutex = new Mutex()
      if (queued) mutex.tryLock()
      const running = mutex.runExclusive(() => {})
      if (queued) mutex.unlock()
      mutex.release()
      assert.equal(mutex.isLocked(), false)
      const next = mutex.tryAcquire()
      await running
      assert.equal(mutex.isLocked(), true, 'it ended the grant of another holder')
      next()
      await assertIdle(mutex)
    })
  }
})

describe('Mutex: release, unlock and the bare pair', () => {
  it('release() on an unlocked mutex does nothing', async () => {
    const mutex = new Mutex()
    assert.equal(mutex.release(), undefined)
    mutex.release()
    assert.equal(mutex.tryLock(), true)
    assert.equal(mutex.tryLock(), false)
  })

  it('release() frees it for any holder, and admits the next waiter', async () => {
    const { mutex, log } = await held()
    note(log, 'next', mutex.acquire())
    mutex.release()
    assert.equal(mutex.isLocked(), true)
    await turn()
    assert.deepEqual(log, ['next'])
  })

  it('unlock() throws when it is not held', async () => {
    const mutex = new Mutex()
    const notHeld = { code: 'ERR_LOCK_NOT_HELD' }
    assert.throws(() => mutex.unlock(), notHeld)
    assert.equal(await mutex.lock(), undefined)
    assert.equal(mutex.unlock(), undefined)
    assert.throws(() => mutex.unlock(), notHeld)
  })

  it('lock() waits in the queue', async () => {
    const { mutex, release, log } = await held()
    const locked = note(log, 'lock', mutex.lock())
    note(log, 'acquire', mutex.acquire())
    await turn()
    assert.deepEqual(log, [])
    release()
    assert.equal(await locked, undefined)
    await turn()
    assert.deepEqual(log, ['lock'])
    mutex.unlock()
    await turn()
    assert.deepEqual(log, ['lock', 'acquire'])
  })

  it('tryLock() and tryAcquire() neither wait nor overtake waiters', async () => {
    const { mutex, release } = await held()
    assert.equal(mutex.tryLock(), false)
    assert.equal(mutex.tryAcquire(), undefined)
    const next = mutex.acquire()
    release()
    assert.equal(mutex.tryLock(), false)
    assert.equal(mutex.tryAcquire(), undefined)
    ;(await next)()
    const mine = mutex.tryAcquire()
    assert.equal(mutex.isLocked(), true)
    mine()
    assert.equal(mutex.tryLock(), true)
  })
})

describe('Mutex: waitForUnlock', () => {
  it('resolves at once when it is free, and locks nothing', async () => {
    const mutex = new Mutex()
    assert.equal(await mutex.waitForUnlock(), undefined)
    assert.equal(mutex.isLocked(), false)
  })

  it('resolves every waiter when the mutex is free', async () => {
    const { mutex, release } = await held()
    const all = [watch(mutex.waitForUnlock()), watch(mutex.waitForUnlock(-5))]
    await turn()
    for (const { state } of all) assert.equal(state, 'pending')
    release()
    assert.equal(mutex.isLocked(), false)
    await turn()
    for (const { state, value } of all) assert.deepEqual([state, value], ['resolved', undefined])
  })

  it('lets callers that queue to acquire go first, except lower priorities', async () => {
    const { mutex, release, log } = await held()
    note(log, 'acquire', mutex.acquire(1))
    note(log, 'equal', mutex.waitForUnlock(1))
    note(log, 'lower', mutex.waitForUnlock())
    note(log, 'higher', mutex.waitForUnlock({ priority: 2 }))
    release()
    await turn()
    assert.deepEqual(log, ['higher', 'acquire'])
    mutex.release()
    await turn()
    assert.deepEqual(log, ['higher', 'acquire', 'equal', 'lower'])
  })

  it('resolves in order of priority, and of arrival', async () => {
    const { mutex, release, log } = await held()
    for (const priority of [0, 2, 1, 2.5]) note(log, priority, mutex.waitForUnlock(priority))
    release()
    await turn()
    assert.deepEqual(log, [2.5, 2, 1, 0])
  })

  it('wakes up even if the mutex is taken again at once', async () => {
    const { mutex, release } = await held()
    const unlocked = watch(mutex.waitForUnlock())
    release()
    mutex.tryLock()
    await turn()
    assert.equal(unlocked.state, 'resolved')
  })
})

describe('Mutex: bad input', () => {
  for (const bad of [null, 'high', Number.NaN, 1n, true, Symbol('1'), () => {}]) {
    it(`throws, and does not change: ${typeof bad} ${String(bad)}`, async () => {
      const { mutex, release } = await held()
      for (const state of ['held', 'free']) {
        if (state === 'free') release()
        for (const method of ['acquire', 'lock', 'waitForUnlock']) {
          const error = Number.isNaN(bad)
            ? { name: 'RangeError', message: /^priority/ }
            : { name: 'TypeError', message: /^options|take no callback/ }
          assert.throws(() => mutex[method](bad), error)
          for (const name of ['priority', 'timeout', 'signal']) {
            if (typeof bad === 'function' && name === 'signal') continue
            const options = { [name]: bad }
            assert.throws(() => mutex[method](options), { message: new RegExp(`^${name}`) })
          }
        }
        assert.equal(mutex.isLocked(), state === 'held')
      }
      await assertIdle(mutex)
    })
  }

  it('passes on errors of getters, and does not change', async () => {
    const boom = new Error('boom')
    const { mutex, release } = await held()
    for (const name of ['priority', 'timeout', 'signal']) {
      const trap = Object.defineProperty({}, name, {
        get() {
          throw boom
        },
      })
      for (const method of ['acquire', 'lock', 'waitForUnlock']) {
        assert.throws(() => mutex[method](trap), boom)
      }
      await assert.rejects(
        mutex.runExclusive(() => {}, trap),
        boom,
      )
    }
    release()
    await assertIdle(mutex)
  })

  it('lets getters use the mutex itself', async () => {
    const { mutex, release, log } = await held()
    const options = {
      get priority() {
        release()
        note(log, 'getter', mutex.acquire())
        return 1
      },
    }
    note(log, 'options', mutex.acquire(options))
    await drain(mutex)
    assert.deepEqual(log, ['getter', 'options'])
    await assertIdle(mutex)
  })
})
