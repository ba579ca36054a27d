'use strict'
// Random programs of one thread: a lock over an engine answers as one that the threads of a process share.
const assert = require('node:assert/strict')
const { Mutex, RWLock, Semaphore } = require('../..')
const { timedWorld } = require('./helpers/fake_world.js')

/** How many programs of each kind, and their steps. */
const [programs, steps] = [20, 40]

/** Pseudo-random numbers, the same for each run. */
function randomBy(seed) {
  let state = seed * 2654435761 + 1
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const from = (low, high) => low + Math.floor(next() * (high - low + 1))
  return { is: (part) => next() < part, from, one: (all) => all[from(0, all.length - 1)] }
}

/** By kind: makes a lock of `options`, and the ways to acquire it. */
const kinds = {
  mutex: {
    make: (options) => new Mutex(options),
    acquire: [(lock, limits) => lock.acquire(limits)],
  },
  semaphore: {
    make: (options, capacity) => new Semaphore(capacity, options),
    acquire: [1, 2, 3].map((weight) => (lock, limits) => lock.acquire(weight, limits)),
  },
  'read-write lock': {
    make: (options) => new RWLock(options),
    acquire: [
      (lock, limits) => lock.acquireRead(limits),
      (lock, limits) => lock.acquireWrite(limits),
    ],
  },
}

/** A call of both locks: the states of their promises, and what these resolve to. `order` gets it when granted. */
class Call {
  states = ['pending', 'pending']
  given = []

  constructor(locks, order, call) {
    for (const [i, lock] of locks.entries()) {
      call(lock, i).then(
        (given) => {
          this.states[i] = given === undefined ? 'undefined' : 'granted'
          this.given[i] = Array.isArray(given) ? given[1] : given
          if (given !== undefined) order?.[i].push(this)
        },
        ({ code, message }) => {
          this.states[i] = code ?? message
        },
      )
    }
  }

  isGranted() {
    return this.states.every((state) => state === 'granted')
  }
}

function limitsOf(random) {
  const limits = random.one([
    {},
    {},
    {},
    { timeout: 0 },
    { ifAvailable: true },
    { timeout: random.from(1, 60) },
    { maxPending: random.from(0, 3) },
    { priority: random.from(-2, 2) },
  ])
  const controllers = random.is(0.2) ? [new AbortController(), new AbortController()] : undefined
  return { controllers, of: (i) => ({ ...limits, signal: controllers?.[i].signal }) }
}

/** What callers can see of a lock. */
function seenOf(lock) {
  const { totals, holders, waits, oldestWait, ...seen } = lock.snapshot()
  // Over an engine a caller that may wait counts as one that has waited.
  return { ...seen, totals: totals && { ...totals, contended: 0 }, isLocked: lock.isLocked() }
}

describe('A lock over an engine, to the callers of one thread', () => {
  const world = timedWorld()

  async function run(kind, seed) {
    const random = randomBy(seed)
    const { make, acquire } = kinds[kind]
    const engine = await world.newEngine({ ttl: 600_000, maxHold: 600_000 })
    const common = {
      diagnostics: random.one([false, 'counters', true]),
      maxPending: random.one([Infinity, 0, 2]),
      timeout: random.one([Infinity, 30]),
    }
    const own = {
      fairness: random.one(['bounded', 'fifo']),
      maxHold: random.one([Infinity, 600_000]),
    }
    const shared = make({ ...common, shared: true }, 3)
    const locks = [shared, make({ ...common, ...own, engine, name: `${seed}` }, 3)]
    const order = [[], []]
    const calls = []
    const aborts = []
    const call = (doing, grants) => calls.push(new Call(locks, grants, doing))
    const granted = () => calls.filter((one) => one.isGranted())
    const does = [
      ...Array(5).fill(() => {
        const [way, limits] = [random.one(acquire), limitsOf(random)]
        if (limits.controllers) aborts.push(limits.controllers)
        call((lock, i) => way(lock, limits.of(i)), order)
      }),
      ...Array(4).fill(() => {
        const all = granted()
        if (all.length > 0) for (const release of random.one(all).given) release()
      }),
      () => {
        const all = granted().filter(({ given: [one] }) => one.upgrade ?? one.downgrade)
        if (all.length === 0) return
        const { given } = random.one(all)
        const limits = random.one([{}, { timeout: 0 }, { timeout: 20 }, { ifAvailable: true }])
        // These throw for a grant that is over.
        call(async (_, i) => given[i].upgrade?.(limits) ?? given[i].downgrade())
      },
      () => {
        for (const lock of locks) lock.cancel()
      },
      () => {
        if (aborts.length === 0) return
        for (const controller of random.one(aborts)) controller.abort(new Error('aborted'))
      },
      () => world.clock.pass(random.from(1, 70)),
    ]
    for (let step = 0; step < steps; step++) {
      await random.one(does)()
      await world.clock.settle()
      const [states, theirs] = [0, 1].map((i) => calls.map((one) => one.states[i]))
      assert.deepEqual(theirs, states)
      assert.deepEqual(seenOf(locks[1]), seenOf(locks[0]))
      assert.deepEqual(
        order[1].map((one) => calls.indexOf(one)),
        order[0].map((one) => calls.indexOf(one)),
      )
    }
    for (const lock of locks) lock.cancel()
    for (const { given } of calls) for (const one of given) one?.()
    await world.clock.settle()
    assert.equal(locks[1].isLocked(), false)
  }

  for (const kind of Object.keys(kinds)) {
    it(`is like a ${kind} that threads share`, async () => {
      for (let seed = 1; seed <= programs; seed++) {
        await run(kind, seed).catch((error) => {
          throw new Error(`oracle: program ${seed}: ${error.message}`, { cause: error })
        })
      }
    })
  }
})
