'use strict'
// Subscribers of events that abort the wait that they hear of.
const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { KeyedMutex, Mutex, RWLock, Semaphore } = require('../..')
const { freshName, within } = require('../helpers/agents.js')
const { turn } = require('../helpers/promises.js')

const releaserOf = async (ticket) => (await ticket)[1]

/**
 * For each kind of waiter: `hold` takes the lock, and its release admits the waiter of `wait`. An upgrade is admitted
 * in the second of two events `release`, where it ends its read.
 */
const waiters = {
  'a waiter of a Mutex': {
    make: (options) => new Mutex(options),
    hold: (mutex) => mutex.acquire(),
    wait: (mutex, signal) => mutex.acquire({ signal }),
  },
  'a waiter of a KeyedMutex': {
    make: ({ shared, diagnostics }) =>
      new KeyedMutex({ name: shared ? freshName() : undefined, diagnostics }),
    hold: (locks) => locks.acquire('a'),
    wait: (locks, signal) => locks.acquire('a', { signal }),
  },
  'a waiter of a Semaphore': {
    make: (options) => new Semaphore(1, options),
    hold: (semaphore) => releaserOf(semaphore.acquire()),
    wait: (semaphore, signal) => releaserOf(semaphore.acquire({ signal })),
  },
  'a reader of an RWLock': {
    make: (options) => new RWLock(options),
    hold: (lock) => lock.acquireWrite(),
    wait: (lock, signal) => lock.acquireRead({ signal }),
  },
  'a writer of an RWLock': {
    make: (options) => new RWLock(options),
    hold: (lock) => lock.acquireRead(),
    wait: (lock, signal) => lock.acquireWrite({ signal }),
  },
  'an upgrading reader': {
    make: (options) => new RWLock(options),
    hold: (lock) => lock.acquireRead(),
    wait: (lock, signal) => lock.tryAcquireRead().upgrade({ signal }),
    event: 'release',
    count: 2,
  },
}

describe('A subscriber of events that aborts a wait as it is admitted', () => {
  for (const [name, { make, hold, wait, event = 'admit', count = 1 }] of Object.entries(waiters)) {
    for (const diagnostics of ['counters', true]) {
      for (const shared of [false, true]) {
        it(`is too late: ${name} holds, with ${diagnostics}, ${shared ? '' : 'not '}shared`, async () => {
          const lock = make({ shared, diagnostics })
          const release = await hold(lock)
          const controller = new AbortController()
          const wanted = wait(lock, controller.signal)
          await turn()
          let heard = 0
          const abort = () => {
            if (++heard === count) controller.abort()
          }
          channel(`boxoffice:${event}`).subscribe(abort)
          release()
          channel(`boxoffice:${event}`).unsubscribe(abort)
          assert.equal(controller.signal.aborted, true)
          const next = await within(10_000, wanted)
          assert.equal(lock.isLocked('a'), true)
          next()
          assert.equal(lock.isLocked('a'), false)
          await within(10_000, lock.onIdle())
        })
      }
    }
  }
})
