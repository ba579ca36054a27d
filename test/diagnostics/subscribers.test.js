'use strict'
// Subscribers of events that abort the wait that they hear of.
const assert = require('node:assert/strict')
const { channel } = require('node:diagnostics_channel')
const { ConditionVariable, KeyedMutex, KeyedSemaphore, Mutex, RWLock, Semaphore } = require('../..')
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

/** Calls `act` at the first of these events from now on. */
function atFirst(event, act) {
  const one = channel(`boxoffice:${event}`)
  const subscriber = () => {
    one.unsubscribe(subscriber)
    act()
  }
  one.subscribe(subscriber)
}

/** Options of a lock of one thread, and of one that threads share. */
const shares = { 'of one thread': () => ({}), 'of several threads': () => ({ name: freshName() }) }

for (const diagnostics of ['counters', true]) {
  describe(`A lock stays consistent with ${diagnostics} when a subscriber`, () => {
    it('aborts one of the waiters that are being notified', async () => {
      const mutex = new Mutex({ diagnostics })
      const condition = new ConditionVariable()
      const controller = new AbortController()
      const waits = async (options) => {
        await mutex.lock()
        const end = await condition.wait(mutex, options).then(
          () => 'notified',
          ({ name }) => name,
        )
        mutex.unlock()
        return end
      }
      const all = [waits(), waits({ signal: controller.signal }), waits()]
      await turn()
      atFirst('admit', () => controller.abort())
      condition.notifyAll()
      assert.deepEqual(await within(10_000, Promise.all(all)), [
        'notified',
        'AbortError',
        'notified',
      ])
      assert.equal(mutex.isLocked(), false)
    })

    it('aborts one of the waiters that are being cancelled', async () => {
      const mutex = new Mutex({ diagnostics })
      const controller = new AbortController()
      const release = await mutex.acquire()
      const all = [mutex.acquire(), mutex.acquire({ signal: controller.signal })]
      const ends = Promise.allSettled(all)
      atFirst('abort', () => controller.abort())
      mutex.cancel()
      const reasons = (await ends).map(({ reason }) => reason.code)
      assert.deepEqual(reasons, ['ERR_LOCK_CANCELED', 'ERR_LOCK_CANCELED'])
      assert.equal(mutex.snapshot().waiting, 0)
      const next = mutex.acquire()
      release()
      ;(await within(10_000, next))()
    })

    for (const [share, options] of Object.entries(shares)) {
      it(`puts back the units of a key that a releaser puts back, ${share}`, async () => {
        const units = new KeyedSemaphore(1, { ...options(), diagnostics })
        const [, release] = await units.acquire('a')
        atFirst('release', () => units.release('a'))
        release()
        const tickets = [units.tryAcquire('a'), units.tryAcquire('a')]
        assert.equal(tickets[1], undefined)
        tickets[0].release()
      })

      it(`takes the unit of a key again that a releaser puts back, ${share}`, async () => {
        const units = new KeyedSemaphore(1, { ...options(), diagnostics })
        const [, release] = await units.acquire('a')
        let taken
        atFirst('release', () => {
          units.release('a')
          taken = units.tryAcquire('a')
        })
        release()
        assert.equal(units.getValue('a'), 0)
        taken.release()
        assert.equal(units.getValue('a'), 1)
      })

      it(`notifies the holder that begins to wait, ${share}`, async () => {
        const shared = options()
        const mutex = new Mutex({ ...shared, diagnostics })
        const condition = new ConditionVariable(shared)
        const release = await mutex.acquire()
        atFirst('release', () => condition.notifyAll())
        await within(10_000, condition.wait(mutex))
        release()
        assert.equal(mutex.isLocked(), false)
      })

      it(`is the first to wait for a mutex that is being released, ${share}`, async () => {
        const mutex = new Mutex({ ...options(), diagnostics })
        const release = await mutex.acquire()
        let next
        atFirst('release', () => {
          next = mutex.acquire()
        })
        release()
        ;(await within(10_000, next))()
        assert.equal(mutex.isLocked(), false)
      })

      for (const method of ['upgrade', 'tryUpgrade']) {
        it(`asks to read while a reader becomes the writer by ${method}(), ${share}`, async () => {
          const lock = new RWLock({ ...options(), diagnostics })
          const read = await lock.acquireRead()
          let isIn = false
          let reader
          atFirst('release', () => {
            reader = lock.acquireRead().finally(() => {
              isIn = true
            })
          })
          const release = await read[method]()
          await turn()
          assert.equal(isIn, false)
          release()
          ;(await within(10_000, reader))()
          assert.equal(lock.isLocked(), false)
          ;(await lock.acquireWrite())()
        })
      }
    }
  })
}
