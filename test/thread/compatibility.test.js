'use strict'
// Code for async-mutex runs unchanged: random scripts run on both packages, with the same visible results. The scripts
// avoid four differences: callbacks are told of their grant; a release function never ends the grant of another holder;
// weights and values are integers of 31 bits; and callers in waitForUnlock that only the queue kept waiting are resolved
// at once when the queue is cancelled.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const AsyncLock = require('async-lock')
const theirs = require('async-mutex')
const ours = require('../..')
const { turn, watch } = require('../helpers/promises.js')
const { Player, steps } = require('../helpers/script.js')
const { useFakeTimers } = require('../helpers/timers.js')
const { useWarnings } = require('../helpers/warnings.js')

const numRuns = 2000

/** Plays scripts on the result of `make(library, value)`. */
function compare(isWeighted, mode, script, make) {
  const value = fc.integer({ min: -2, max: 4 })
  const property = fc.asyncProperty(value, script, async (initial, todo) => {
    const play = (library) => new Player(make(library, initial), isWeighted, mode).play(todo)
    const [expected, actual] = await Promise.all([play(theirs), play(ours)])
    assert.deepEqual(actual, expected)
  })
  return fc.assert(property, { numRuns: mode.inTurns ? numRuns / 2 : numRuns })
}

describe('what async-mutex does', () => {
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  // A Semaphore settles its promises in the very order of async-mutex.
  it('is what a Semaphore does', () => {
    const make = ({ Semaphore }, value) => new Semaphore(value)
    return compare(true, { inOrder: true }, steps(true), make)
  })

  // The Mutex of async-mutex wraps some promises more often than others, so they settle a few
  // microtasks later. The order is compared among promises of one kind.
  it('is what a Mutex does', () =>
    compare(false, { inOrder: false }, steps(false), ({ Mutex }) => new Mutex()))

  // So do its decorators; if two callbacks end in one turn, either may be the first.
  describe('with its decorators', () => {
    useFakeTimers()
    const mode = { inOrder: false, inTurns: true }
    const hold = fc.constant('hold')

    it('is what a Semaphore does', () => {
      const make = ({ Semaphore, withTimeout }, value) => withTimeout(new Semaphore(value), 10)
      return compare(true, mode, steps(true, hold), make)
    })

    it('is what a Mutex does', () => {
      const make = ({ Mutex, tryAcquire }) => tryAcquire(new Mutex())
      return compare(false, mode, steps(false, hold), make)
    })
  })

  it('is not to forget callers in waitForUnlock when the queue before them is cancelled', async () => {
    const heard = async ({ Semaphore }) => {
      const semaphore = new Semaphore(1)
      semaphore.acquire(2).catch(() => {})
      const seen = watch(semaphore.waitForUnlock())
      semaphore.cancel()
      await turn()
      return seen.state
    }
    assert.equal(await heard(theirs), 'pending')
    assert.equal(await heard(ours), 'resolved')
  })

  it('is to run a callback after the call, which async-lock runs within it', async () => {
    for (const [lock, method, isWithin] of [
      [new AsyncLock(), 'acquire', true],
      [new ours.KeyedMutex(), 'runExclusive', false],
    ]) {
      let hasRun = false
      const running = lock[method]('a', async () => {
        hasRun = true
      })
      assert.equal(hasRun, isWithin)
      await running
    }
  })

  for (const [error, code, message] of [
    [ours.E_TIMEOUT, 'ERR_LOCK_TIMEOUT', 'timeout while waiting for mutex to become available'],
    [ours.E_ALREADY_LOCKED, 'ERR_LOCK_ALREADY_LOCKED', 'mutex already locked'],
    [ours.E_CANCELED, 'ERR_LOCK_CANCELED', 'request for lock canceled'],
  ]) {
    it(`is to say: ${message}`, () => {
      assert.ok(error instanceof Error)
      assert.equal(error.message, message)
      assert.equal(error.code, code)
    })
  }

  it('is in what is exported', () => {
    for (const [name, theirExport] of Object.entries(theirs)) {
      const ourExport = ours[name]
      assert.equal(typeof ourExport, typeof theirExport, name)
      if (theirExport instanceof Error) assert.equal(ourExport.message, theirExport.message)
      for (const method of Object.getOwnPropertyNames(theirExport.prototype ?? {})) {
        if (method.startsWith('_')) continue
        assert.equal(typeof ourExport.prototype[method], 'function', `${name}.${method}`)
      }
    }
  })
})
