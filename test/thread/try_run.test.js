'use strict'
// tryRunExclusive() and tryRunShared(): whether the callback ran, and its value.
const assert = require('node:assert/strict')
const boxoffice = require('../..')
const { scopes } = require('../helpers/scopes.js')

const { DiningPhilosophers, KeyedMutex, KeyedRWLock, KeyedSemaphore, Mutex } = boxoffice
const { RecursiveMutex, RWLock, Semaphore } = boxoffice

/** Each is { hold, tryRun }: `hold(callback)` runs while the lock is held, so that tryRun(callback) does not run. */
const kinds = {
  Mutex(options) {
    const mutex = new Mutex(options)
    return {
      hold: (callback) => mutex.runExclusive(callback),
      tryRun: (callback) => mutex.tryRunExclusive(callback),
    }
  },
  RecursiveMutex(options) {
    const mutex = new RecursiveMutex(options)
    return {
      hold: (callback) => mutex.runExclusive(callback),
      tryRun: (callback) => mutex.tryRunExclusive(callback),
    }
  },
  'Semaphore, for some units'(options) {
    const semaphore = new Semaphore(3, options)
    return {
      hold: (callback) => semaphore.runExclusive(callback, 2),
      tryRun: (callback) => semaphore.tryRunExclusive(callback, 2),
    }
  },
  'RWLock, to read'(options) {
    const lock = new RWLock(options)
    return {
      hold: (callback) => lock.runExclusive(callback),
      tryRun: (callback) => lock.tryRunShared(callback),
    }
  },
  'RWLock, to write'(options) {
    const lock = new RWLock(options)
    return {
      hold: (callback) => lock.runShared(callback),
      tryRun: (callback) => lock.tryRunExclusive(callback),
    }
  },
  'KeyedMutex, for several keys'(options) {
    const locks = new KeyedMutex(options)
    return {
      hold: (callback) => locks.runExclusive('b', callback),
      tryRun: (callback) => locks.tryRunExclusive(['a', 'b'], callback),
    }
  },
  KeyedMutex(options) {
    const locks = new KeyedMutex(options)
    return {
      hold: (callback) => locks.runExclusive('a', callback),
      tryRun: (callback) => locks.tryRunExclusive('a', callback),
    }
  },
  'KeyedRWLock, to read'(options) {
    const locks = new KeyedRWLock(options)
    return {
      hold: (callback) => locks.runExclusive('a', callback),
      tryRun: (callback) => locks.tryRunShared('a', callback),
    }
  },
  'KeyedRWLock, to write'(options) {
    const locks = new KeyedRWLock(options)
    return {
      hold: (callback) => locks.runShared('a', callback),
      tryRun: (callback) => locks.tryRunExclusive('a', callback),
    }
  },
  'KeyedSemaphore, for some units'(options) {
    const locks = new KeyedSemaphore(3, options)
    return {
      hold: (callback) => locks.runExclusive('a', callback, 2),
      tryRun: (callback) => locks.tryRunExclusive('a', callback, 2),
    }
  },
  DiningPhilosophers(options) {
    const table = new DiningPhilosophers(3, options)
    return {
      hold: (callback) => table.runExclusive(0, callback),
      tryRun: (callback) => table.tryRunExclusive(1, callback),
    }
  },
}

for (const [scope, use] of Object.entries(scopes)) {
  for (const [kind, make] of Object.entries(kinds)) {
    if (kind === 'DiningPhilosophers' && scope !== 'thread' && scope !== 'process') continue
    describe(`a try to run with a ${kind} in the scope ${scope}`, () => {
      const optionsOf = use()
      let lock
      beforeEach(async () => {
        // A default that the try must not wait for.
        lock = make({ ...(await optionsOf()), timeout: 1e9 })
      })

      it('runs the callback with its grant, and tells of it and of its value', async () => {
        const grants = []
        const run = (value) => lock.tryRun(async (...grant) => grants.push(grant.at(-1)) && value)
        assert.deepEqual(await run('value'), { ran: true, value: 'value' })
        assert.deepEqual(await run(undefined), { ran: true, value: undefined })
        assert.deepEqual(
          grants.map(({ abandoned }) => abandoned),
          [false, false],
        )
      })

      it('tells that the lock is held, and does not call the callback', async () => {
        const missed = { ran: false, value: undefined }
        // The release comes from outside the hold: a recursive mutex would let its own chain in.
        let letGo
        const held = new Promise((resolve) => (letGo = resolve))
        const isIn = new Promise((resolve) => {
          lock.hold(() => resolve() ?? held)
        })
        await isIn
        assert.deepEqual(await lock.tryRun(assert.fail), missed)
        letGo()
      })

      it('rejects with the error of the callback, and releases', async () => {
        const error = new Error('of the callback')
        const fails = () => {
          throw error
        }
        await assert.rejects(lock.tryRun(fails), error)
        assert.equal((await lock.tryRun(() => {})).ran, true)
      })

      it('rejects without a callback', async () => {
        await assert.rejects(lock.tryRun(undefined), { name: 'TypeError', message: /callback/ })
      })
    })
  }
}

describe('a try to run', () => {
  it('never calls the callback before it has returned', async () => {
    const calls = []
    const result = new Mutex().tryRunExclusive(() => calls.push('callback'))
    calls.push('returned')
    await result
    assert.deepEqual(calls, ['returned', 'callback'])
  })

  it('goes through the runExclusive() of a derived class', async () => {
    class Logged extends KeyedMutex {
      asked = []
      runExclusive(key, ...rest) {
        this.asked.push(key)
        return super.runExclusive(key, ...rest)
      }
    }
    const locks = new Logged()
    assert.deepEqual(await locks.tryRunExclusive('a', () => 1), { ran: true, value: 1 })
    assert.deepEqual(locks.asked, ['a'])
  })

  it('is refused by a closed lock', async () => {
    const mutex = new Mutex()
    await mutex.close()
    await assert.rejects(mutex.tryRunExclusive(assert.fail), { code: 'ERR_LOCK_CLOSED' })
  })
})
