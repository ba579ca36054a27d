'use strict'
// Random scripts on a Semaphore and on its model: each promise must settle alike, in the same
// order, and the values must be equal after each step.
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const fc = require('fast-check')
const { E_CANCELED, Semaphore } = require('../..')
const { turn } = require('../helpers/promises.js')
const { SemaphoreModel } = require('../helpers/semaphore_model.js')
const { FakeTimers } = require('../helpers/timers.js')
const { useWarnings } = require('../helpers/warnings.js')

const numRuns = 4000

const wait = [
  fc.integer({ min: 1, max: 4 }),
  fc.constantFrom(0, 0, 0, 1, -1, 2, 0.5),
  fc.constantFrom(undefined, undefined, 0, 5, 10, Infinity),
  fc.boolean(),
]
const op = (name, ...args) => fc.tuple(fc.constant(name), ...args)
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: op('acquire', ...wait) },
    { weight: 2, arbitrary: op('waitForUnlock', ...wait) },
    { weight: 2, arbitrary: op('tryAcquire', fc.integer({ min: 1, max: 4 })) },
    { weight: 4, arbitrary: op('releaser', fc.nat(40)) },
    { weight: 2, arbitrary: op('release', fc.integer({ min: 1, max: 3 })) },
    { weight: 1, arbitrary: op('setValue', fc.integer({ min: -3, max: 6 })) },
    { weight: 1, arbitrary: op('cancel') },
    { weight: 3, arbitrary: op('abort', fc.nat(40)) },
    { weight: 2, arbitrary: op('tick', fc.integer({ min: 1, max: 8 })) },
    { weight: 1, arbitrary: op('onIdle') },
    { weight: 3, arbitrary: op('turn') },
  ),
  { maxLength: 50, size: 'max' },
)

const words = { [E_CANCELED.code]: 'canceled', ERR_LOCK_TIMEOUT: 'late' }
const aborted = { code: 'ABORTED' }
words[aborted.code] = 'aborted'

/** A Semaphore and its model, which run the same script. */
class Pair {
  #semaphore
  #model
  #clock
  #events = []
  #waits = []
  #releasers = []
  /** Which callers of onIdle() have resolved, and which should have. */
  #idles = []

  constructor(value, clock) {
    this.#semaphore = new Semaphore(value)
    this.#model = new SemaphoreModel(value)
    this.#clock = clock
  }

  async play(script) {
    for (const [name, ...args] of script) {
      const later = this[name](...args)
      if (later !== undefined) await later
      this.#same()
    }
    await this.turn()
    for (let id = 0; id < this.#waits.length; id++) {
      this.abort(id)
      this.#same()
    }
    await this.turn()
    for (const { signal } of this.#waits) {
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    }
    assert.equal(this.#clock.pending, 0)
  }

  acquire(weight, ...limits) {
    const admitted = (id, [value, release]) => {
      this.#releasers.push({ release, weight, isOver: false })
      return [id, 'admitted', value]
    }
    this.#wait('acquire', weight, limits, admitted)
  }

  waitForUnlock(weight, ...limits) {
    this.#wait('waitForUnlock', weight, limits, (id) => [id, 'unlocked'])
  }

  #wait(method, weight, [priority, timeout, isObject], read) {
    const id = this.#waits.length
    const controller = new AbortController()
    this.#waits.push(controller)
    const options = { priority, timeout, signal: controller.signal }
    const args = isObject ? [{ weight, ...options }] : [weight, options]
    this.#semaphore[method](...args).then(
      (given) => this.#events.push(read(id, given)),
      ({ code }) => this.#events.push([id, words[code]]),
    )
    this.#model[method](id, weight, priority, timeout ?? Infinity)
  }

  tryAcquire(weight) {
    const given = this.#semaphore.tryAcquire(weight)
    const before = this.#model.events.length
    this.#model.acquire(-1, weight, -Infinity, 0)
    const [[, what, value]] = this.#model.events.splice(before)
    assert.equal(given?.[0], what === 'admitted' ? value : undefined)
    if (given !== undefined) this.#releasers.push({ release: given[1], weight, isOver: false })
  }

  releaser(which) {
    if (this.#releasers.length === 0) return
    const grant = this.#releasers[which % this.#releasers.length]
    grant.release()
    if (!grant.isOver) this.#model.release(grant.weight)
    grant.isOver = true
  }

  release(weight) {
    this.#semaphore.release(weight)
    this.#model.release(weight)
  }

  onIdle() {
    const idle = { isTold: false, isDue: this.#model.isIdle() }
    this.#idles.push(idle)
    this.#semaphore.onIdle().then(() => {
      idle.isTold = true
    })
  }

  setValue(value) {
    this.#semaphore.setValue(value)
    this.#model.setValue(value)
  }

  cancel() {
    this.#semaphore.cancel()
    this.#model.cancel()
  }

  abort(which) {
    if (this.#waits.length === 0) return
    const id = which % this.#waits.length
    this.#waits[id].abort(aborted)
    this.#model.abort(id)
  }

  tick(ms) {
    this.#clock.tick(ms)
    this.#model.tick(ms)
  }

  async turn() {
    await turn()
    assert.deepEqual(this.#events, this.#model.events)
    for (const idle of this.#idles) assert.equal(idle.isTold, idle.isDue)
  }

  #same() {
    assert.equal(this.#semaphore.getValue(), this.#model.value)
    assert.equal(this.#semaphore.isLocked(), this.#model.value <= 0)
    if (this.#model.isIdle()) for (const idle of this.#idles) idle.isDue = true
  }
}

describe('a Semaphore', function () {
  this.timeout(120_000)
  useWarnings('BOXOFFICE_TOO_MANY_UNITS')

  it('acts as its model', async () => {
    const script = fc.asyncProperty(fc.integer({ min: -2, max: 5 }), steps, async (value, todo) => {
      const clock = new FakeTimers().install()
      try {
        await new Pair(value, clock).play(todo)
      } finally {
        clock.uninstall()
      }
    })
    await fc.assert(script, { numRuns })
  })
})
