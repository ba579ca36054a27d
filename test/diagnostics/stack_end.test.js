'use strict'
// Calls of locks with diagnostics within a few frames of the end of the stack: an observer needs more of it than the lock.
const assert = require('node:assert/strict')
const { KeyedMutex, Mutex, RecursiveMutex, RWLock, Semaphore } = require('../..')
const { atTheEnd } = require('../helpers/stack_dive.js')
const { withoutTraces } = require('../helpers/stack_end.js')

const levels = { counters: 'counters', full: true }

// Calls that acquire a free lock.
const acquires = {
  'Mutex.acquire': [Mutex, (lock) => lock.acquire()],
  'Mutex.acquire with a priority': [Mutex, (lock) => lock.acquire(1)],
  'Mutex.lock': [Mutex, (lock) => lock.lock()],
  'Mutex.tryLock': [Mutex, (lock) => lock.tryLock()],
  'Mutex.tryAcquire': [Mutex, (lock) => lock.tryAcquire()],
  'RWLock.acquireRead': [RWLock, (lock) => lock.acquireRead()],
  'RWLock.acquireWrite': [RWLock, (lock) => lock.acquireWrite()],
  'Semaphore.acquire': [Semaphore, (lock) => lock.acquire()],
  'Semaphore.acquire with a weight': [Semaphore, (lock) => lock.acquire(1, 1)],
}

// Calls that return a releaser.
const tries = {
  'Mutex.tryAcquire': [Mutex, (lock) => lock.tryAcquire()],
  'RWLock.tryAcquireRead': [RWLock, (lock) => lock.tryAcquireRead()],
  'RWLock.tryAcquireWrite': [RWLock, (lock) => lock.tryAcquireWrite()],
  'Semaphore.tryAcquire': [Semaphore, (lock) => lock.tryAcquire().release],
}

// Calls that run a callback.
const runs = {
  'Mutex.runExclusive': [Mutex, (lock, run) => lock.runExclusive(run)],
  'RWLock.runShared': [RWLock, (lock, run) => lock.runShared(run)],
  'RWLock.runExclusive': [RWLock, (lock, run) => lock.runExclusive(run)],
  'Semaphore.runExclusive': [Semaphore, (lock, run) => lock.runExclusive(run)],
}

// Calls that run a callback, and block their thread.
const may = { allowBlockingMainThread: true }
const blockingRuns = {
  Mutex: (options) => new Mutex({ ...may, ...options }),
  RecursiveMutex: (options) => new RecursiveMutex({ ...may, ...options }),
  RWLock: (options) => new RWLock({ ...may, ...options }),
  Semaphore: (options) => new Semaphore(1, { ...may, ...options }),
}

// Calls that acquire a key.
const keyed = {
  'KeyedMutex.acquire': (map) => map.acquire('a'),
  'KeyedMutex.lock': (map) => map.lock('a'),
  'KeyedMutex.runExclusive': (map) => map.runExclusive('a', nothing),
}

// The holder of a lock, and a caller that waits for it.
const admissions = {
  'of a Mutex, to a caller': [Mutex, (lock) => lock.tryAcquire(), (lock) => lock.acquire()],
  'of a Mutex, to a callback': [
    Mutex,
    (lock) => lock.tryAcquire(),
    (lock, run) => lock.runExclusive(run),
  ],
  'of a reader, to a writer': [
    RWLock,
    (lock) => lock.tryAcquireRead(),
    (lock) => lock.acquireWrite(),
  ],
  'of a reader, to one that upgrades': [
    RWLock,
    (lock) => lock.tryAcquireRead(),
    (lock) => lock.tryAcquireRead().upgrade(),
  ],
  'of a writer, to a callback that reads': [
    RWLock,
    (lock) => lock.tryAcquireWrite(),
    (lock, run) => lock.runShared(run),
  ],
  'of a unit, to a caller': [
    Semaphore,
    (lock) => lock.tryAcquire().release,
    (lock) => lock.acquire().then(([, release]) => release),
  ],
}

const make = (Lock, diagnostics) =>
  Lock === Semaphore ? new Lock(1, { diagnostics }) : new Lock({ diagnostics })
const nothing = () => {}
/** Calls `act` in a frame of 1 KB. */
const deeper = (act, ..._) => act()
const kilobyte = new Array(128).fill(0)

/** Gives back what an acquire has resolved to: a releaser, a semaphore's pair, or nothing. */
function giveBack(lock, got) {
  if (Array.isArray(got)) got[1]()
  else if (typeof got === 'function') got()
  else lock.release()
}

for (const [level, diagnostics] of Object.entries(levels)) {
  describe(`with ${level} diagnostics, a call near the end of the stack`, function () {
    this.timeout(60_000)
    withoutTraces()

    for (const [name, [Lock, acquire]] of Object.entries(acquires)) {
      it(`that throws has locked nothing: ${name}`, async () => {
        const all = atTheEnd(
          () => ({ lock: make(Lock, diagnostics) }),
          (o) => (o.got = acquire(o.lock)),
        )
        for (const { lock, got, isDone = false } of all) {
          assert.equal(lock.isLocked(), isDone)
          if (isDone) giveBack(lock, await got)
        }
      })
    }

    for (const [name, [Lock, acquire]] of Object.entries(tries)) {
      // As when V8 has inlined the calls of the acquire, but not those of the release.
      it(`that has acquired can be undone with less of the stack: ${name}`, () => {
        const all = atTheEnd(
          () => ({ lock: make(Lock, diagnostics) }),
          ({ lock }) => deeper(acquire(lock), ...kilobyte),
        )
        for (const { lock } of all) {
          assert.equal(lock.isLocked(), false)
          assert.deepEqual(lock.snapshot().holders, [])
        }
      })
    }

    for (const [name, [Lock, run]] of Object.entries(runs)) {
      it(`leaves nothing locked: ${name}`, async () => {
        const all = atTheEnd(
          () => ({ lock: make(Lock, diagnostics) }),
          (o) => (o.ran = run(o.lock, nothing)),
        )
        await Promise.allSettled(all.map(({ ran }) => ran))
        for (const { lock } of all) assert.equal(lock.isLocked(), false)
      })
    }

    for (const [name, construct] of Object.entries(blockingRuns)) {
      for (const shared of [false, true]) {
        const scope = shared ? 'threads' : 'one thread'
        it(`leaves nothing locked: ${name}.runExclusiveSync of ${scope}`, () => {
          const all = atTheEnd(
            () => ({ lock: construct({ diagnostics, shared }) }),
            (o) => o.lock.runExclusiveSync(nothing),
          )
          for (const { lock } of all) {
            assert.equal(lock.isLocked(), false)
            assert.deepEqual(lock.snapshot().holders, [])
          }
        })
      }
    }

    for (const [name, [Lock, hold, wait]] of Object.entries(admissions)) {
      it(`admits a waiter, or can be repeated: a release ${name}`, async () => {
        // Those that no call was tried on wait, too.
        const made = []
        const makeOne = () => {
          const lock = make(Lock, diagnostics)
          const one = { lock, release: hold(lock), waiting: wait(lock, nothing) }
          made.push(one)
          return one
        }
        atTheEnd(makeOne, (o) => o.release())
        for (const { lock, release, waiting } of made) {
          release()
          const next = await waiting
          next?.()
          assert.equal(lock.isLocked(), false)
          assert.deepEqual(lock.snapshot().holders, [])
        }
      })
    }
  })
}

for (const [level, diagnostics] of Object.entries({ no: false, ...levels })) {
  describe(`with ${level} diagnostics, a call near the end of the stack`, function () {
    this.timeout(60_000)
    withoutTraces()

    for (const [name, acquire] of Object.entries(keyed)) {
      it(`that throws leaves no key behind: ${name}`, async () => {
        const made = []
        const makeOne = () => made[made.push({ map: new KeyedMutex({ diagnostics }) }) - 1]
        const all = atTheEnd(makeOne, (o) => (o.got = acquire(o.map)))
        await Promise.allSettled(all.map(({ got }) => got))
        for (const { map } of all) assert.equal(map.size, [...map.keys()].length)
        // A later test of this process must not find a holder.
        for (const { map } of made) map.release('a')
        for (const { map } of made) assert.equal(map.size, 0)
      })
    }
  })
}
