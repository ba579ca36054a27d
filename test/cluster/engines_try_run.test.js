'use strict'
// tryRunExclusive() and tryRunShared() over an engine: they ask the server once, and wait for nothing.
const assert = require('node:assert/strict')
const { KeyedMutex, KeyedRWLock, KeyedSemaphore } = require('../..')
const { Mutex, RecursiveMutex, RWLock, Semaphore } = require('../..')
const { fakeWorld } = require('./helpers/fake_world.js')

/** Each makes { hold, tryRun } over an engine: tryRun(callback) does not run while a hold(callback) runs. */
const ways = {
  Mutex(engine) {
    const mutex = new Mutex({ engine, name: 'a' })
    return {
      hold: (callback) => mutex.runExclusive(callback),
      tryRun: (callback) => mutex.tryRunExclusive(callback),
    }
  },
  RecursiveMutex(engine) {
    const mutex = new RecursiveMutex({ engine, name: 'a' })
    return {
      hold: (callback) => mutex.runExclusive(callback),
      tryRun: (callback) => mutex.tryRunExclusive(callback),
    }
  },
  Semaphore(engine) {
    const semaphore = new Semaphore(2, { engine, name: 'a' })
    return {
      hold: (callback) => semaphore.runExclusive(callback),
      tryRun: (callback) => semaphore.tryRunExclusive(callback, 2),
    }
  },
  'RWLock, a reader'(engine) {
    const lock = new RWLock({ engine, name: 'a' })
    return {
      hold: (callback) => lock.runExclusive(callback),
      tryRun: (callback) => lock.tryRunShared(callback),
    }
  },
  'RWLock, a writer'(engine) {
    const lock = new RWLock({ engine, name: 'a' })
    return {
      hold: (callback) => lock.runShared(callback),
      tryRun: (callback) => lock.tryRunExclusive(callback),
    }
  },
  KeyedMutex(engine) {
    const mutex = new KeyedMutex({ engine })
    return {
      hold: (callback) => mutex.runExclusive('k', callback),
      tryRun: (callback) => mutex.tryRunExclusive('k', callback),
    }
  },
  'KeyedMutex, several keys'(engine) {
    const mutex = new KeyedMutex({ engine })
    return {
      hold: (callback) => mutex.runExclusive('k', callback),
      tryRun: (callback) => mutex.tryRunExclusive(['j', 'k'], callback),
    }
  },
  KeyedSemaphore(engine) {
    const semaphore = new KeyedSemaphore(1, { engine })
    return {
      hold: (callback) => semaphore.runExclusive('k', callback),
      tryRun: (callback) => semaphore.tryRunExclusive('k', callback),
    }
  },
  KeyedRWLock(engine) {
    const lock = new KeyedRWLock({ engine })
    return {
      hold: (callback) => lock.runExclusive('k', callback),
      tryRun: (callback) => lock.tryRunShared('k', callback),
    }
  },
}

describe('Over an engine, tryRunExclusive() and tryRunShared()', () => {
  const world = fakeWorld()

  for (const [name, make] of Object.entries(ways)) {
    it(`run their callback only where the lock is free: ${name}`, async () => {
      const [ours, theirs] = [make(await world.newEngine()), make(await world.newEngine())]
      // A recursive mutex lets its own chain of calls in.
      for (const holder of name === 'RecursiveMutex' ? [theirs] : [ours, theirs]) {
        const answer = await holder.hold(() => ours.tryRun(() => assert.fail('it ran')))
        assert.deepEqual(answer, { ran: false, value: undefined })
      }
      assert.deepEqual(await ours.tryRun(async () => 'done'), { ran: true, value: 'done' })
      // It has released the lock.
      assert.equal(await theirs.hold(() => 'held'), 'held')
    })
  }
})
