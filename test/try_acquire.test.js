'use strict'
const assert = require('node:assert/strict')
const { E_ALREADY_LOCKED, Mutex, RWLock, tryAcquire, withTimeout } = require('..')
const { kinds } = require('./helpers/kinds.js')
const { turn, watch } = require('./helpers/promises.js')
const { useFakeTimers } = require('./helpers/timers.js')

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

      it(`${way} is let in when it is free`, async () => {
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
  it('refuses what is no lock of one kind of hold, and what is no time', () => {
    for (const lock of [undefined, null, {}, new RWLock()]) {
      assert.throws(() => withTimeout(lock, 5), TypeError)
    }
    for (const timeout of [undefined, null, '5']) {
      assert.throws(() => withTimeout(new Mutex(), timeout), TypeError)
    }
    for (const timeout of [-1, Number.NaN]) {
      assert.throws(() => withTimeout(new Mutex(), timeout), RangeError)
    }
    assert.ok(withTimeout(new Mutex(), Number.POSITIVE_INFINITY))
  })
})
