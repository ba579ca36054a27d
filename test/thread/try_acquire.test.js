'use strict'
const assert = require('node:assert/strict')
const { inspect } = require('node:util')
const theirs = require('async-mutex')
const ours = require('../..')
const { kinds } = require('../helpers/kinds.js')
const { turn, watch } = require('../helpers/promises.js')
const { useFakeTimers } = require('../helpers/timers.js')

const { E_ALREADY_LOCKED, KeyedMutex, KeyedSemaphore, Mutex, RWLock, tryAcquire, withTimeout } =
  ours
const boom = new Error('boom')
const waits = {
  acquire: (lock) => lock.acquire(),
  runExclusive: (lock, callback = () => {}) => lock.runExclusive(callback),
  waitForUnlock: (lock) => lock.waitForUnlock(),
}

for (const { name, make, releaser } of kinds) {
  describe(`tryAcquire of a ${name}`, () => {
    const fake = useFakeTimers()

    for (const [way, wait] of Object.entries(waits)) {
      it(`${way} rejects when it is held, but not before this turn ends`, async () => {
        for (const [args, expected] of [
          [[], E_ALREADY_LOCKED],
          [[boom], boom],
        ]) {
          const lock = make()
          const release = releaser(await lock.acquire())
          const seen = watch(wait(tryAcquire(lock, ...args), assert.fail))
          await turn()
          fake.clock.tick(1)
          await turn()
          assert.equal(seen.reason, expected)
          const lucky = watch(wait(tryAcquire(lock)))
          release()
          await turn()
          assert.equal(lucky.state, 'resolved')
          assert.equal(fake.clock.pending, 0)
        }
      })

      it(`${way} is granted when it is free`, async () => {
        const lock = make()
        const seen = watch(wait(tryAcquire(lock)))
        await turn()
        assert.equal(seen.state, 'resolved')
        assert.equal(fake.clock.pending, 0)
        assert.equal(lock.isLocked(), way === 'acquire')
      })
    }
  })
}

describe('withTimeout', () => {
  const fake = useFakeTimers()

  it('refuses objects that are not a lock with one kind of hold, and keyed locks', () => {
    for (const lock of [undefined, null, {}, new RWLock()]) {
      const message = /^lock must have acquire\(\).*timeout in their constructor$/
      assert.throws(() => withTimeout(lock, 5), { name: 'TypeError', message })
    }
    for (const lock of [new KeyedMutex(), new KeyedSemaphore(2)]) {
      const message = /^a keyed lock cannot be decorated: .*acquire\(key, \{ timeout: 50 \}\)$/
      assert.throws(() => withTimeout(lock, 50), { name: 'TypeError', message })
      assert.throws(() => tryAcquire(lock), { name: 'TypeError', message })
    }
  })

  it('refuses a limit that is not a number', () => {
    for (const timeout of [null, {}, true, 'soon', 5n, Symbol('late')]) {
      const message = /^timeout must be a number of milliseconds, not /
      assert.throws(() => withTimeout(new Mutex(), timeout), { name: 'TypeError', message })
    }
  })

  for (const timeout of [-1, Number.NEGATIVE_INFINITY, 0, '0', '', '-5', Number.NaN, undefined]) {
    it(`grants a free lock, and no other, within ${inspect(timeout)}`, async () => {
      for (const library of [ours, theirs]) {
        const limited = library.withTimeout(new library.Mutex(), timeout)
        const free = watch(limited.acquire())
        await turn()
        assert.equal(free.state, 'resolved')
        const late = watch(limited.acquire())
        await turn()
        assert.equal(late.state, 'pending')
        fake.clock.tick(1)
        await turn()
        assert.equal(late.reason, library.E_TIMEOUT)
        free.value()
        await turn()
        assert.equal(limited.isLocked(), false)
      }
    })
  }

  it('takes a numeral for the number, as setTimeout does', async () => {
    for (const library of [ours, theirs]) {
      const limited = library.withTimeout(new library.Mutex(), '50')
      await limited.acquire()
      const late = watch(limited.acquire())
      fake.clock.tick(49)
      await turn()
      assert.equal(late.state, 'pending')
      fake.clock.tick(1)
      await turn()
      assert.equal(late.reason, library.E_TIMEOUT)
    }
  })

  it('sets no limit for Infinity, unlike async-mutex', async () => {
    const limited = withTimeout(new Mutex(), Number.POSITIVE_INFINITY)
    await limited.acquire()
    const waiting = watch(limited.acquire())
    assert.equal(fake.clock.pending, 0)
    await turn()
    assert.equal(waiting.state, 'pending')
  })
})
