'use strict'
// Random steps on locks with diagnostics: their totals equal those of an observer that sees the promises only.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { KeyedMutex, Mutex, RWLock, Semaphore } = require('../..')
const { scaled } = require('../helpers/scale.js')

/**
 * One lock, and its state seen from outside. `acquire(how, limits)` returns a promise of a
 * releaser.
 */
class World {
  expected = {
    acquisitions: 0,
    contended: 0,
    timeouts: 0,
    aborts: 0,
    abandoned: 0,
    deadlocks: 0,
  }
  out = []
  waits = []

  constructor(lock, acquire, tryAcquire, weightOf = () => 1) {
    Object.assign(this, { lock, acquire, tryAcquire, weightOf })
  }

  /** An immediate grant is known when the microtasks have run: no caller releases meanwhile. */
  async ask(how, limits) {
    const { expected } = this
    const ask = { controller: new AbortController(), isSettled: false, isLate: false }
    const promise = this.acquire(how, { ...limits, signal: ask.controller.signal })
    ask.done = promise.then(
      (release) => {
        ask.isSettled = true
        expected.acquisitions++
        if (ask.isLate) expected.contended++
        this.out.push({ release, weight: this.weightOf(how) })
      },
      (error) => {
        ask.isSettled = true
        if (error.code === 'ERR_LOCK_TIMEOUT') expected.timeouts++
        else expected.aborts++
      },
    )
    await settled()
    if (ask.isSettled) return
    ask.isLate = true
    this.waits.push(ask)
  }

  tryNow(how) {
    const release = this.tryAcquire(how)
    if (release === undefined) return
    this.expected.acquisitions++
    this.out.push({ release, weight: this.weightOf(how) })
  }

  async release(which) {
    if (this.out.length === 0) return
    const [{ release }] = this.out.splice(which % this.out.length, 1)
    release()
    release()
    await settled()
  }

  async abort(which) {
    this.waits = this.waits.filter(({ isSettled }) => !isSettled)
    if (this.waits.length === 0) return
    this.waits[which % this.waits.length].controller.abort()
    await settled()
  }

  async cancel() {
    this.lock.cancel?.()
    this.lock.cancelAll?.()
    await settled()
  }

  check() {
    const { totals, holders, waits } = this.lock.snapshot()
    assert.deepEqual(totals, this.expected)
    assert.equal(unitsOf(holders), unitsOf(this.out))
    assert.equal(
      waits.buckets.reduce((sum, some) => sum + some),
      totals.contended,
    )
  }

  async end() {
    await this.cancel()
    while (this.out.length > 0) await this.release(0)
    this.check()
  }
}

const settled = () => new Promise(setImmediate)
/** As a sum: with counters, the holders of one turn are one entry. */
const unitsOf = (holds) => holds.reduce((sum, { weight = 1 }) => sum + weight, 0)

const worlds = {
  mutex(options) {
    const lock = new Mutex(options)
    const acquire = (_, limits) => lock.acquire(limits)
    return new World(lock, acquire, () => lock.tryAcquire())
  },
  'shared mutex'(options) {
    const lock = new Mutex({ ...options, shared: true })
    const acquire = (_, limits) => lock.acquire(limits)
    return new World(lock, acquire, () => lock.tryAcquire())
  },
  semaphore(options) {
    const lock = new Semaphore(3, options)
    const weightOf = (how) => (how % 3) + 1
    const acquire = async (how, limits) =>
      (await lock.acquire({ ...limits, weight: weightOf(how) }))[1]
    return new World(lock, acquire, (how) => lock.tryAcquire(weightOf(how))?.[1], weightOf)
  },
  'read-write lock'(options) {
    const lock = new RWLock(options)
    const acquire = (how, limits) =>
      how % 3 === 0 ? lock.acquireWrite(limits) : lock.acquireRead(limits)
    const tryNow = (how) => (how % 3 === 0 ? lock.tryAcquireWrite() : lock.tryAcquireRead())
    return new World(lock, acquire, tryNow)
  },
}

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('ask'), how: fc.nat(5) }),
    fc.record({ do: fc.constant('ask'), how: fc.nat(5) }),
    fc.record({ do: fc.constant('askNow'), how: fc.nat(5) }),
    fc.record({ do: fc.constant('tryNow'), how: fc.nat(5) }),
    fc.record({ do: fc.constant('release'), how: fc.nat(20) }),
    fc.record({ do: fc.constant('release'), how: fc.nat(20) }),
    fc.record({ do: fc.constant('abort'), how: fc.nat(20) }),
    fc.record({ do: fc.constant('cancel'), how: fc.constant(0) }),
  ),
  { maxLength: 40 },
)

async function play(world, all) {
  for (const { do: step, how } of all) {
    if (step === 'askNow') await world.ask(how, { timeout: 0 })
    else await world[step](how)
    world.check()
  }
  await world.end()
}

describe('Totals of watched locks, against a model', () => {
  for (const [title, begin] of Object.entries(worlds)) {
    for (const diagnostics of ['counters', true]) {
      it(`are exact for a ${title}, diagnostics: ${diagnostics}`, async function () {
        this.timeout(60_000)
        const property = fc.asyncProperty(steps, (all) => play(begin({ diagnostics }), all))
        await fc.assert(property, { numRuns: scaled(40, 20) })
      })
    }
  }

  it('of keys are dropped with them, and those of the map are not', async () => {
    const map = new KeyedMutex({ diagnostics: 'counters' })
    for (let i = 0; i < 1000; i++) (await map.acquire(i % 700))()
    assert.deepEqual(map.snapshot(), [])
    const { snapshot } = require('../..')
    const { locks } = await snapshot()
    assert.ok(
      locks.some(({ kind, totals }) => kind === 'KeyedMutex' && totals?.acquisitions === 1000),
    )
  })
})
