'use strict'
// A callback of a blocking call that goes on after the lock is released: the call warns.
const assert = require('node:assert/strict')
const {
  DiningPhilosophers,
  KeyedMutex,
  KeyedRWLock,
  KeyedSemaphore,
  Mutex,
  RecursiveMutex,
  RWLock,
  Semaphore,
} = require('../..')
const { useWarnings, warningsOf } = require('../helpers/warnings.js')

const code = 'BOXOFFICE_ASYNC_CALLBACK'
const blocking = { allowBlockingMainThread: true }
const shared = { ...blocking, shared: true }
const reentrant = { ...blocking, reentrant: true }

const calls = {
  'Mutex.runExclusiveSync()': (f) => new Mutex(blocking).runExclusiveSync(f),
  'Mutex.runExclusiveSync() between threads': (f) => new Mutex(shared).runExclusiveSync(f),
  'Semaphore.runExclusiveSync()': (f) => new Semaphore(1, blocking).runExclusiveSync(f),
  'Semaphore.runExclusiveSync() between threads': (f) =>
    new Semaphore(1, shared).runExclusiveSync(f),
  'RWLock.runExclusiveSync()': (f) => new RWLock(blocking).runExclusiveSync(f),
  'RWLock.runSharedSync()': (f) => new RWLock(blocking).runSharedSync(f),
  'RecursiveMutex.runExclusiveSync()': (f) => new RecursiveMutex(blocking).runExclusiveSync(f),
  'RecursiveMutex.runExclusiveSync() inside itself': (f) => {
    const recursive = new RecursiveMutex(blocking)
    return recursive.runExclusiveSync(() => [recursive.runExclusiveSync(f)])[0]
  },
  'KeyedMutex.runExclusiveSync()': (f) => new KeyedMutex(blocking).runExclusiveSync('a', f),
  'KeyedMutex.runExclusiveSync(), reentrant': (f) =>
    new KeyedMutex(reentrant).runExclusiveSync('a', f),
  'KeyedSemaphore.runExclusiveSync()': (f) =>
    new KeyedSemaphore(1, blocking).runExclusiveSync('a', f),
  'KeyedRWLock.runSharedSync()': (f) => new KeyedRWLock(blocking).runSharedSync('a', f),
  'DiningPhilosophers.runExclusiveSync()': (f) =>
    new DiningPhilosophers(2, blocking).runExclusiveSync(0, f),
}

describe('A callback that returns a Promise, and is not waited for', () => {
  useWarnings(code)

  for (const [name, call] of Object.entries(calls)) {
    it(`gets a warning with the stack of the call: ${name}`, async () => {
      let given
      const [warning, ...others] = await warningsOf(code, () => {
        given = call(async () => 'later')
      })
      assert.equal(await given, 'later')
      assert.deepEqual(others, [])
      assert.match(warning.message, /returned a Promise, which the lock does not wait for: use/)
      assert.match(warning.detail, /^It was called here:\n.*async_callback\.test\.js/)
    })

    it(`reaches the caller though its then() cannot be read: ${name}`, () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      assert.equal(
        call(() => proxy),
        proxy,
      )
    })

    it(`gets none for a value: ${name}`, async () => {
      const warnings = await warningsOf(code, () => {
        for (const value of [1, undefined, null, {}])
          assert.equal(
            call(() => value),
            value,
          )
      })
      assert.deepEqual(warnings, [])
    })
  }
})
