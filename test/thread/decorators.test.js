'use strict'
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const theirs = require('async-mutex')
const { E_CANCELED, E_TIMEOUT, locks, Semaphore, tryAcquire, withTimeout } = require('../..')
const { useFakeTimers } = require('../helpers/timers.js')
const { kinds } = require('../helpers/kinds.js')
const { assertIdle, note, turn, watch } = require('../helpers/promises.js')
const { useWarnings } = require('../helpers/warnings.js')

const boom = new Error('boom')
const deaf = { aborted: false, addEventListener() {}, removeEventListener() {} }
const waits = {
  acquire: (lock) => lock.acquire(),
  runExclusive: (lock, callback = () => {}) => lock.runExclusive(callback),
  waitForUnlock: (lock) => lock.waitForUnlock(),
}

for (const { name, make, releaser } of kinds) {
  describe(`withTimeout of a ${name}`, () => {
    const fake = useFakeTimers()

    for (const [way, wait] of Object.entries(waits)) {
      it(`${way} rejects when it times out, and leaves the queue`, async () => {
        for (const [args, expected] of [
          [[50], E_TIMEOUT],
          [[50, undefined], E_TIMEOUT],
          [[50, boom], boom],
          [[50, null], null],
        ]) {
          const lock = make()
          const limited = withTimeout(lock, ...args)
          const release = releaser(await limited.acquire())
          const seen = watch(wait(limited, assert.fail))
          fake.clock.tick(49)
          await turn()
          assert.equal(seen.state, 'pending')
          fake.clock.tick(1)
          await turn()
          assert.equal(seen.state, 'rejected')
          assert.equal(seen.reason, expected)
          const next = watch(lock.acquire())
          release()
          await turn()
          assert.equal(next.state, 'resolved')
          releaser(next.value)()
          await assertIdle(lock)
        }
      })

      it(`${way} leaves no timer when it is admitted`, async () => {
        const limited = withTimeout(make(), 50)
        const release = releaser(await limited.acquire())
        assert.equal(fake.clock.pending, 0)
        const seen = watch(wait(limited))
        assert.equal(fake.clock.pending, 1)
        release()
        await turn()
        assert.equal(fake.clock.pending, 0)
        fake.clock.tick(50)
        await turn()
        assert.equal(seen.state, 'resolved')
      })

      it(`${way} is admitted by a release within its time, however late it reads that`, async () => {
        const limited = withTimeout(make(), 50)
        const release = releaser(await limited.acquire())
        const seen = watch(wait(limited))
        release()
        fake.clock.tick(50)
        await turn()
        assert.equal(seen.state, 'resolved')
      })
    }

    it('runs callbacks, releases, and passes on results and errors', async () => {
      const lock = make()
      const limited = withTimeout(lock, 50)
      const value = name === 'Mutex' ? [] : [1]
      const given = await limited.runExclusive((...args) => args)
      assert.deepEqual(given.slice(0, -1), value)
      assert.equal(given.at(-1).abandoned, false)
      for (const fail of [() => Promise.reject(boom), () => assert.fail(boom)]) {
        await assert.rejects(limited.runExclusive(fail), boom)
        await assertIdle(lock)
      }
      const running = limited.runExclusive(() => lock.isLocked())
      assert.equal(lock.isLocked(), true)
      assert.equal(await running, true)
      await assert.rejects(limited.runExclusive('callback'), TypeError)
      await assertIdle(lock)
    })

    it('does not end a callback that has begun', async () => {
      const limited = withTimeout(make(), 50)
      const seen = watch(limited.runExclusive(() => turn(fake.clock.tick(100))))
      await turn()
      await turn()
      assert.equal(seen.state, 'resolved')
    })

    it('is otherwise the lock itself', async () => {
      const lock = make(boom)
      const limited = withTimeout(lock, 50)
      assert.equal(limited.isLocked(), false)
      const release = releaser(await lock.acquire())
      assert.equal(limited.isLocked(), true)
      const all = [watch(limited.acquire()), watch(lock.acquire())]
      assert.equal(limited.cancel(), undefined)
      await turn()
      for (const { reason } of all) assert.equal(reason, boom)
      assert.equal(fake.clock.pending, 0)
      const canceled = watch(limited.acquire())
      limited.cancel(E_CANCELED)
      await turn()
      assert.equal(canceled.reason, E_CANCELED)
      release()
      releaser(await limited.acquire())
      assert.equal(limited.release(), undefined)
      await assertIdle(lock)
    })

    it('has methods that work without their object, as in async-mutex', async () => {
      const { acquire, cancel, isLocked, release, waitForUnlock } = withTimeout(make(), 50)
      await acquire()
      assert.equal(isLocked(), true)
      cancel()
      release()
      await waitForUnlock()
      assert.equal(isLocked(), false)
    })

    it('takes priorities and signals', async () => {
      const lock = make()
      const limited = withTimeout(lock, 50)
      const weight = name === 'Mutex' ? [] : [1]
      const log = []
      const controller = new AbortController()
      const { signal } = controller
      await limited.acquire()
      note(log, 'none', limited.acquire())
      note(log, 'one', limited.acquire(...weight, 1))
      note(log, 'two', limited.acquire({ priority: 2 }))
      note(log, 'watched', limited.waitForUnlock(...weight, { priority: 3 }))
      limited.runExclusive(() => log.push('run'), ...weight, { priority: 4, timeout: 60 })
      const seen = watch(limited.acquire(...weight, { signal }))
      const soon = watch(limited.acquire({ timeout: 10 }))
      fake.clock.tick(10)
      controller.abort(boom)
      await turn()
      assert.equal(seen.reason, boom)
      assert.equal(soon.reason.code, 'ERR_LOCK_TIMEOUT')
      assert.equal(getEventListeners(signal, 'abort').length, 0)
      for (let i = 0; i < 4; i++) {
        limited.release()
        await turn()
      }
      assert.deepEqual(log, ['run', 'watched', 'two', 'one', 'none'])
      assert.equal(fake.clock.pending, 0)
      await assertIdle(lock)
    })

    it('takes maxPending', async () => {
      const lock = make()
      const limited = withTimeout(lock, 50)
      const release = releaser(await limited.acquire())
      const full = { code: 'ERR_LOCK_QUEUE_FULL' }
      await assert.rejects(limited.acquire({ maxPending: 0 }), full)
      await assert.rejects(limited.runExclusive(assert.fail, { maxPending: 0 }), full)
      assert.throws(() => limited.waitForUnlock({ maxPending: 0 }), /unknown option "maxPending"/)
      assert.equal(fake.clock.pending, 0)
      release()
      await assertIdle(lock)
    })

    it('refuses options that the wait does not have, whatever their value', () => {
      const limited = withTimeout(make(), 50)
      for (const name of ['ifAvailable', 'maxPending']) {
        for (const value of [undefined, false, 1]) {
          const unknown = new RegExp(`^unknown option "${name}"`)
          assert.throws(() => limited.waitForUnlock({ [name]: value }), { message: unknown })
        }
      }
      assert.throws(() => limited.waitForUnlock(() => {}), /^TypeError: options must be an object/)
      assert.equal(fake.clock.pending, 0)
    })

    it('names the options that the lock takes for an unknown one', async () => {
      const lock = make()
      for (const wait of ['acquire', 'waitForUnlock']) {
        const messageOf = (one) =>
          (async () => one[wait]({ tiemout: 5 }))().catch(({ message }) => message)
        assert.equal(await messageOf(withTimeout(lock, 50)), await messageOf(lock))
      }
    })

    it('checks input as strictly as the lock, and leaves nothing behind', async () => {
      const lock = make()
      const limited = withTimeout(lock, 50)
      for (const state of ['free', 'held']) {
        if (state === 'held') await lock.acquire()
        for (const bad of [null, 'high', Number.NaN, { priority: null }, { timeout: -1 }]) {
          for (const method of ['acquire', 'waitForUnlock']) {
            assert.throws(() => limited[method](bad), Error, `${method} ${bad}`)
          }
          await assert.rejects(limited.runExclusive(assert.fail, bad), Error)
        }
      }
      assert.equal(fake.clock.pending, 0)
      lock.release()
      await assertIdle(lock)
    })

    for (const [title, signal] of [
      ['null', null],
      ['an object', {}],
      ['one without removeEventListener', { aborted: false, addEventListener() {} }],
      ['one that throws', { ...deaf, addEventListener: () => assert.fail(boom) }],
    ]) {
      it(`refuses an invalid signal, and does not change then: ${title}`, async () => {
        const lock = make()
        const limited = withTimeout(lock, 50)
        await assert.rejects(async () => limited.acquire({ signal }))
        await turn()
        assert.equal(fake.clock.pending, 0)
        await assertIdle(lock)
      })
    }

    it('leaves no listener, and is not admitted after its abort', async () => {
      const lock = make()
      const limited = withTimeout(lock, 50)
      const { signal } = new AbortController()
      await limited.acquire({ signal })
      const seen = watch(limited.acquire({ signal }))
      assert.equal(getEventListeners(signal, 'abort').length, 1)
      limited.release()
      await turn()
      assert.equal(seen.state, 'resolved')
      assert.equal(getEventListeners(signal, 'abort').length, 0)
      limited.release()
      const aborted = AbortSignal.abort(boom)
      await assert.rejects(limited.acquire({ signal: aborted }), boom)
      assert.equal(getEventListeners(aborted, 'abort').length, 0)
      assert.equal(fake.clock.pending, 0)
      await assertIdle(lock)
    })

    it('can be decorated again: the shortest time counts', async () => {
      for (const [inner, outer] of [
        [10, 20],
        [20, 10],
      ]) {
        const lock = make()
        const limited = withTimeout(withTimeout(lock, inner, inner), outer, outer)
        const release = releaser(await limited.acquire())
        const all = Object.values(waits).map((wait) => watch(wait(limited)))
        fake.clock.tick(10)
        await turn()
        for (const { reason } of all) assert.equal(reason, 10)
        assert.equal(fake.clock.pending, 0)
        release()
        await assertIdle(lock)
      }
    })
  })
}

describe('withTimeout of a Semaphore: weights and values', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  const fake = useFakeTimers()

  it('takes weights in all its methods', async () => {
    const semaphore = new Semaphore(5)
    const limited = withTimeout(semaphore, 50)
    const [value, release] = await limited.acquire(3)
    assert.deepEqual([value, limited.getValue()], [5, 2])
    assert.equal(await limited.runExclusive((before) => before - semaphore.getValue(), 2), 2)
    assert.equal(await limited.runExclusive(() => semaphore.getValue(), { weight: 2 }), 0)
    await limited.waitForUnlock(2)
    const late = watch(limited.waitForUnlock(3))
    fake.clock.tick(50)
    await turn()
    assert.equal(late.reason, E_TIMEOUT)
    release()
    limited.release(3)
    assert.equal(semaphore.getValue(), 8)
    assert.equal(limited.setValue(-1), undefined)
    assert.equal(limited.getValue(), -1)
  })

  it('refuses weights synchronously, and rejects from runExclusive', async () => {
    const limited = withTimeout(new Semaphore(1), 50)
    const message = 'invalid weight 0: must be positive'
    for (const method of ['acquire', 'release', 'waitForUnlock']) {
      assert.throws(() => limited[method](0), { message })
    }
    await assert.rejects(limited.runExclusive(assert.fail, 0), { message })
    assert.equal(fake.clock.set, 0)
  })

  it('admits the waiters behind it when it times out', async () => {
    const semaphore = new Semaphore(1)
    const heavy = watch(withTimeout(semaphore, 50).acquire(2))
    const light = watch(semaphore.acquire())
    await turn()
    assert.equal(light.state, 'pending')
    fake.clock.tick(50)
    await turn()
    assert.equal(heavy.reason, E_TIMEOUT)
    assert.equal(light.value?.[0], 1)
  })
})

describe('withTimeout of another lock', () => {
  // As async-mutex, it tells a semaphore by what acquire() gives, not by its other methods.
  for (const [name, more] of Object.entries({
    'without getValue()': {},
    'with getValue()': { getValue: () => 1 },
  })) {
    for (const [gives, ticketOf, expected] of [
      ['a ticket', (release) => [1, release], [1]],
      ['a releaser', (release) => release, []],
    ]) {
      it(`releases ${gives} of a lock ${name}`, async () => {
        let held = 0
        const release = () => {
          held--
        }
        const lock = {
          async acquire() {
            held++
            return ticketOf(release)
          },
          isLocked: () => held > 0,
          ...more,
        }
        const given = await withTimeout(lock, 50).runExclusive((...all) => all)
        assert.deepEqual(given, [...expected, release])
        assert.equal(held, 0)
        await assert.rejects(withTimeout(lock, 50).runExclusive(undefined), TypeError)
        assert.equal(held, 0)
      })
    }
  }

  it('refuses what is neither a Mutex nor a Semaphore', () => {
    const message = /lock must have acquire\(\) and isLocked\(\)/
    for (const other of [locks, {}, undefined]) {
      assert.throws(() => withTimeout(other, 50), { name: 'TypeError', message })
    }
  })
})

describe('Decorators of a lock that takes no signal, around each other', () => {
  const fake = useFakeTimers()
  const inner = new Error('inner')
  const outer = new Error('outer')

  it('reject by the shorter limit', async () => {
    const mutex = new theirs.Mutex()
    await mutex.acquire()
    const limited = withTimeout(mutex, 50, inner)
    const shorter = watch(withTimeout(limited, 20, outer).acquire())
    const longer = watch(withTimeout(limited, 80, outer).waitForUnlock())
    const now = watch(tryAcquire(limited, outer).acquire())
    fake.clock.tick(20)
    await turn()
    assert.equal(now.reason, outer)
    assert.equal(shorter.reason, outer)
    fake.clock.tick(30)
    await turn()
    assert.equal(longer.reason, inner)
  })

  it('may be those of other versions of the package, which mark themselves by false', async () => {
    const mutex = new theirs.Mutex()
    await mutex.acquire()
    const limited = withTimeout(mutex, 50, inner)
    const marked = { ...limited, [Symbol.for('boxoffice.takesSignal')]: false }
    const wait = watch(withTimeout(marked, 20, outer).acquire())
    fake.clock.tick(20)
    await turn()
    assert.equal(wait.reason, outer)
  })

  it('acquire a free semaphore, and pass the priority on', async () => {
    const semaphore = new theirs.Semaphore(1)
    const limited = withTimeout(withTimeout(semaphore, 50), 80)
    const [value, release] = await limited.acquire()
    assert.equal(value, 1)
    const order = []
    const waits = [1, 5, 3].map((priority) =>
      limited.runExclusive(() => order.push(priority), 1, priority),
    )
    release()
    await Promise.all(waits)
    assert.deepEqual(order, [5, 3, 1])
    assert.equal(semaphore.getValue(), 1)
  })
})
