'use strict'
// Latches and barriers in one thread, against models: an array of waiters, and a number.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { Barrier, CountdownLatch } = require('../..')
const { settled } = require('../helpers/keyed.js')

const which = fc.nat(9)
const of = (weight, op, more = {}) => ({
  weight,
  arbitrary: fc.record({ op: fc.constant(op), ...more }),
})
const scriptOf = (...steps) => fc.array(fc.oneof(...steps), { maxLength: 40, size: 'max' })

class LatchModel {
  queue = []
  ends = []

  constructor(count) {
    this.count = count
  }

  wait(id) {
    this.queue.push(id)
    this.settle()
  }

  countDown({ n }) {
    if (n > this.count) return 'ERR_LOCK_RANGE'
    this.count -= n
    this.settle()
  }

  settle() {
    if (this.count === 0) this.ends.push(...this.queue.splice(0).map((id) => `${id} passed`))
  }

  abort(id) {
    if (!this.queue.includes(id)) return
    this.queue = this.queue.filter((one) => one !== id)
    this.ends.push(`${id} aborted`)
  }
}

class BarrierModel {
  queue = []
  ends = []
  isBroken = false

  constructor(parties) {
    this.parties = parties
  }

  wait(id, how) {
    if (how === 'aborted') {
      this.giveUp(id)
    } else if (this.isBroken) {
      this.ends.push(`${id} ERR_LOCK_BROKEN`)
    } else if (this.queue.length === this.parties - 1) {
      const all = [...this.queue.splice(0), id]
      this.ends.push(...all.map((one, i) => `${one} passed ${this.parties - 1 - i}`))
    } else if (how === 'late') {
      this.break()
      this.ends.push(`${id} ERR_LOCK_TIMEOUT`)
    } else {
      this.queue.push(id)
    }
  }

  giveUp(id) {
    this.queue = this.queue.filter((one) => one !== id)
    this.break()
    this.ends.push(`${id} aborted`)
  }

  abort(id) {
    if (this.queue.includes(id)) this.giveUp(id)
  }

  break() {
    this.ends.push(...this.queue.splice(0).map((id) => `${id} ERR_LOCK_BROKEN`))
    this.isBroken = true
  }

  reset() {
    this.break()
    this.isBroken = false
  }
}

/** Each waits with its own controller; `ends` records how the waits have ended. */
class Waits {
  controllers = []
  ends = []

  begin(gate, how) {
    const id = this.controllers.length
    const controller = new AbortController()
    this.controllers.push(controller)
    if (how === 'aborted') controller.abort('aborted')
    const limits = how === 'late' ? { timeout: 0 } : { signal: controller.signal }
    gate.wait(limits).then(
      (value) => this.ends.push(`${id} passed${value === undefined ? '' : ` ${value}`}`),
      (reason) => this.ends.push(`${id} ${reason.code ?? reason}`),
    )
    return id
  }

  /**
   * Rejections take more microtasks than other ends, so the order within a step is not compared.
   */
  async take() {
    await settled()
    return this.ends.splice(0).sort()
  }
}

/** The code of the error that `action` throws, if it throws. */
function codeOf(action) {
  try {
    action()
  } catch ({ code }) {
    return code
  }
}

describe('latches and barriers, against models', function () {
  this.timeout(60_000)

  it('CountdownLatch acts as its model', async () => {
    const steps = scriptOf(
      of(4, 'wait'),
      of(2, 'abort', { which }),
      of(3, 'countDown', { n: fc.integer({ min: 1, max: 3 }) }),
    )
    const play = async (count, shared, script) => {
      const latch = new CountdownLatch(count, { shared })
      const model = new LatchModel(count)
      const waits = new Waits()
      for (const step of script) {
        if (step.op === 'wait') model.wait(waits.begin(latch))
        if (step.op === 'abort') {
          waits.controllers[step.which]?.abort('aborted')
          model.abort(step.which)
        }
        if (step.op === 'countDown') {
          assert.equal(
            codeOf(() => latch.countDown(step.n)),
            model.countDown(step),
          )
        }
        assert.deepEqual(await waits.take(), model.ends.splice(0).sort())
        assert.deepEqual([latch.count, latch.tryWait()], [model.count, model.count === 0])
      }
      for (const controller of waits.controllers) controller.abort()
    }
    const plays = fc.asyncProperty(fc.integer({ min: 0, max: 8 }), fc.boolean(), steps, play)
    await fc.assert(plays, { numRuns: 300 })
  })

  it('Barrier acts as its model', async () => {
    const how = fc.constantFrom('late', 'aborted')
    const steps = scriptOf(
      of(8, 'wait'),
      of(1, 'wait', { how }),
      of(2, 'abort', { which }),
      of(1, 'break'),
      of(2, 'reset'),
    )
    const play = async (parties, shared, script) => {
      const barrier = new Barrier(parties, { shared })
      const model = new BarrierModel(parties)
      const waits = new Waits()
      for (const step of script) {
        if (step.op === 'wait') model.wait(waits.begin(barrier, step.how), step.how)
        if (step.op === 'abort') {
          waits.controllers[step.which]?.abort('aborted')
          model.abort(step.which)
        }
        if (step.op === 'break' || step.op === 'reset') {
          barrier[step.op]()
          model[step.op]()
        }
        // In one turn, before any promise has settled.
        assert.deepEqual(
          [barrier.waiting, barrier.isBroken()],
          [model.queue.length, model.isBroken],
        )
        assert.deepEqual(await waits.take(), model.ends.splice(0).sort())
        assert.deepEqual(
          [barrier.waiting, barrier.isBroken()],
          [model.queue.length, model.isBroken],
        )
      }
      for (const controller of waits.controllers) controller.abort()
    }
    const plays = fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.boolean(), steps, play)
    await fc.assert(plays, { numRuns: 500 })
  })
})
