'use strict'
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const { holdersHint } = require('../helpers/holders_hint.js')
const { useFakeTimers } = require('../helpers/timers.js')
const { held, kinds, waits } = require('../helpers/kinds.js')
const { assertIdle, note, turn, watch } = require('../helpers/promises.js')

const late = { name: 'Error', code: 'ERR_LOCK_TIMEOUT' }
const boom = new Error('boom')
const listeners = (signal) => getEventListeners(signal, 'abort').length

/** All waits of both kinds of locks: `wait(lock, options, callback)`. */
const cases = kinds.flatMap((kind) =>
  Object.entries(waits).map(([way, wait]) => ({
    kind,
    way,
    title: `${kind.name}: ${way}`,
    wait: (lock, options, callback) => wait(kind, lock, options, callback),
    acquires: way !== 'waitForUnlock',
  })),
)

for (const { kind, title, wait, acquires } of cases) {
  describe(`${title} with a timeout`, () => {
    const fake = useFakeTimers()

    it('rejects when it has passed, and not before, and leaves the queue', async () => {
      const { lock, release, log } = await held(kind)
      const seen = watch(wait(lock, { timeout: 50 }, () => log.push('called')))
      fake.clock.tick(49)
      await turn()
      assert.equal(seen.state, 'pending')
      assert.equal(fake.clock.pending, 1)
      fake.clock.tick(1)
      await turn()
      assert.equal(seen.state, 'rejected')
      assert.equal(seen.reason.code, late.code)
      assert.match(
        seen.reason.message,
        new RegExp(`^the ${kind.name.toLowerCase()} .*50 ms${holdersHint}$`),
      )
      assert.equal(fake.clock.pending, 0)
      release()
      await assertIdle(lock)
      assert.deepEqual(log, [])
    })

    it('does not wait when it is 0', async () => {
      const { lock, release } = await held(kind)
      const seen = watch(wait(lock, { timeout: 0 }))
      const next = watch(kind.acquire(lock))
      release()
      await turn()
      assert.equal(seen.reason?.code, late.code)
      assert.match(seen.reason.message, / 0 ms$/)
      assert.equal(next.state, 'resolved')
      kind.releaser(next.value)()
      const free = watch(wait(lock, { timeout: 0 }))
      await turn()
      assert.equal(free.state, 'resolved')
      assert.equal(fake.clock.set, 0)
    })

    it('leaves no timer when it is admitted', async () => {
      const { lock, release } = await held(kind)
      const seen = watch(wait(lock, { timeout: 50 }))
      assert.equal(fake.clock.pending, 1)
      release()
      assert.equal(fake.clock.pending, 0)
      fake.clock.tick(100)
      await turn()
      assert.equal(seen.state, 'resolved')
    })

    it('sets no timer without a wait, or for a timeout too long for a timer', async () => {
      const lock = kind.make()
      await wait(lock, { timeout: 50 })
      lock.release()
      if (lock.getValue) lock.setValue(0)
      else if (!lock.isLocked()) lock.tryLock()
      const all = [Infinity, 2 ** 31, undefined].map((timeout) => watch(wait(lock, { timeout })))
      assert.equal(fake.clock.set, 0)
      const longest = watch(wait(lock, { timeout: 2 ** 31 - 1 }))
      assert.equal(fake.clock.set, 1)
      fake.clock.tick(2 ** 31)
      await turn()
      assert.equal(longest.state, 'rejected')
      for (const { state } of all) assert.equal(state, 'pending')
    })

    it('is admitted by a release just before its timeout, and times out before one just after', async () => {
      const { lock, release } = await held(kind)
      globalThis.setTimeout(release, 50)
      const before = watch(wait(lock, { timeout: 50 }))
      fake.clock.tick(50)
      await turn()
      assert.equal(before.state, 'resolved')
      const again = await held(kind)
      const after = watch(wait(again.lock, { timeout: 50 }))
      globalThis.setTimeout(again.release, 50)
      fake.clock.tick(50)
      await turn()
      assert.equal(after.state, 'rejected')
      await assertIdle(again.lock)
    })

    for (const bad of [Number.NaN, -1, -0.001, -Infinity, '1', null, 1n, {}]) {
      it(`refuses ${typeof bad} ${bad}, and does not change`, async () => {
        const { lock, release } = await held(kind)
        const attempt = async () => wait(lock, { timeout: bad })
        await assert.rejects(attempt, {
          name: typeof bad === 'number' ? 'RangeError' : 'TypeError',
          message: /^timeout/,
        })
        release()
        await assert.rejects(attempt, { message: /^timeout/ })
        await assertIdle(lock)
        assert.equal(fake.clock.set, 0)
      })
    }
  })

  describe(`${title} with a signal`, () => {
    const fake = useFakeTimers()

    it('rejects at once when it is aborted, even if the lock is free', async () => {
      const lock = kind.make()
      for (const reason of [boom, null, 'why']) {
        const signal = AbortSignal.abort(reason)
        const seen = watch(wait(lock, { signal, timeout: 50 }))
        await turn()
        assert.equal(seen.state, 'rejected')
        assert.equal(seen.reason, reason)
        assert.equal(listeners(signal), 0)
      }
      assert.equal(fake.clock.set, 0)
      await assertIdle(lock)
    })

    it('removes only the aborted waiter from the queue', async () => {
      const { lock, release, log } = await held(kind)
      const controller = new AbortController()
      const { signal } = controller
      note(log, 'before', wait(lock, {}))
      const seen = watch(wait(lock, { signal, timeout: 50 }, () => log.push('called')))
      note(log, 'after', wait(lock, {}))
      assert.equal(listeners(signal), 1)
      controller.abort(boom)
      assert.equal(listeners(signal), 0)
      assert.equal(fake.clock.pending, 0)
      await turn()
      assert.equal(seen.reason, boom)
      release()
      await turn()
      if (lock.isLocked()) lock.release()
      await turn()
      assert.deepEqual(log, ['before', 'after'])
    })

    it('rejects with the default reason of signals aborted without one', async () => {
      const { lock } = await held(kind)
      const controller = new AbortController()
      const promise = wait(lock, { signal: controller.signal })
      controller.abort()
      await assert.rejects(promise, { name: 'AbortError' })
    })

    it('leaves no listener, and ignores aborts, once it is admitted', async () => {
      const { lock, release } = await held(kind)
      const controller = new AbortController()
      const { signal } = controller
      const seen = watch(wait(lock, { signal, timeout: 50 }))
      release()
      assert.equal(listeners(signal), 0)
      controller.abort(boom)
      await turn()
      assert.equal(seen.state, 'resolved')
      const free = kind.make()
      const other = new AbortController()
      await wait(free, { signal: other.signal })
      assert.equal(listeners(other.signal), 0)
    })

    it('is admitted by an earlier listener, and removed by a later one', async () => {
      for (const first of [true, false]) {
        const { lock, release } = await held(kind)
        const controller = new AbortController()
        const { signal } = controller
        if (first) signal.addEventListener('abort', () => release())
        const seen = watch(wait(lock, { signal }))
        if (!first) signal.addEventListener('abort', () => release())
        controller.abort(boom)
        await turn()
        assert.equal(seen.state, first ? 'resolved' : 'rejected')
        if (lock.isLocked()) lock.release()
        await assertIdle(lock)
      }
    })

    it('leaves nothing behind when it times out', async () => {
      const { lock, release } = await held(kind)
      const { signal } = new AbortController()
      const seen = watch(wait(lock, { signal, timeout: 50 }))
      fake.clock.tick(50)
      assert.equal(listeners(signal), 0)
      assert.equal(fake.clock.pending, 0)
      await turn()
      assert.equal(seen.reason.code, late.code)
      release()
      await assertIdle(lock)
    })

    if (acquires) {
      it('leaves nothing behind when it is cancelled', async () => {
        const { lock, release } = await held(kind)
        const { signal } = new AbortController()
        const seen = watch(wait(lock, { signal, timeout: 50 }))
        lock.cancel(boom)
        assert.equal(listeners(signal), 0)
        assert.equal(fake.clock.pending, 0)
        await turn()
        assert.equal(seen.reason, boom)
        release()
        await assertIdle(lock)
      })
    }

    const noRemove = { aborted: false, addEventListener() {} }
    const noAdd = { aborted: false, removeEventListener() {} }
    const throwing = { ...noRemove, ...noAdd, addEventListener: () => assert.fail('boom') }
    for (const [name, signal] of Object.entries({
      null: null,
      'a string': 'signal',
      'an object': {},
      'a controller': new AbortController(),
      'one without addEventListener': noAdd,
      'one without removeEventListener': noRemove,
      'one that throws': throwing,
    })) {
      it(`refuses an invalid signal, and does not change: ${name}`, async () => {
        const { lock, release } = await held(kind)
        const attempt = async () => wait(lock, { signal, timeout: 50 })
        const seen = watch(attempt())
        await turn()
        assert.equal(seen.state, 'rejected')
        release()
        await assertIdle(lock)
        assert.equal(fake.clock.pending, 0)
      })
    }
  })
}

for (const kind of kinds) {
  describe(`${kind.name}: a waiter that leaves the queue`, () => {
    const fake = useFakeTimers()

    it('is passed over', async () => {
      const { lock, release, log } = await held(kind)
      const controllers = Array.from({ length: 100 }, () => new AbortController())
      controllers.forEach(({ signal }, i) => {
        const options = i % 3 === 1 ? { signal, timeout: 10 } : { signal }
        kind.run(lock, 'runExclusive', () => log.push(i), options).catch(() => {})
      })
      controllers.forEach((controller, i) => {
        if (i % 3 === 0) controller.abort()
      })
      fake.clock.tick(10)
      release()
      await turn()
      const stayed = [...controllers.keys()].filter((i) => i % 3 === 2)
      assert.deepEqual(log, stayed)
      await assertIdle(lock)
    })

    it('settles before the waiters that it admits do', async () => {
      const { lock, log } = await held(kind)
      const unlocked = watch(lock.waitForUnlock({ timeout: 5 }))
      note(log, 'a', kind.acquire(lock, { timeout: 10 }))
      note(log, 'b', kind.acquire(lock, { timeout: 10 }))
      fake.clock.tick(10)
      await turn()
      assert.equal(unlocked.reason.code, late.code)
      assert.deepEqual(log, ['a!', 'b!'])
    })
  })
}
