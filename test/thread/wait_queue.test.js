'use strict'
// The wait queue of local locks, beside a model that is a sorted array.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { WaitQueue } = require('../../lib/core/wait_queue.js')
const { scaled } = require('../helpers/scale.js')

const waiterOf = (id, priority) => ({ id, priority, previous: null, next: null })
const priorities = fc.constantFrom(0, 0, 0, -0, 1, -1, 2.5, 7, -7, Infinity, -Infinity)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('push'), priority: priorities }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('remove'), which: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.constant({ op: 'shift' }) },
)

describe('the wait queue', () => {
  it('is first come, first served within a priority, and lets any waiter leave', () => {
    const play = (script) => {
      const queue = new WaitQueue()
      let model = []
      script.forEach(({ op, priority, which }, id) => {
        if (op === 'push') {
          const waiter = waiterOf(id, priority)
          queue.push(waiter)
          // Array.prototype.sort is stable.
          model = [...model, waiter].sort((a, b) => b.priority - a.priority || 0)
        } else if (model.length > 0) {
          const waiter = op === 'shift' ? queue.head : model[which % model.length]
          queue.remove(waiter)
          model = model.filter((one) => one !== waiter)
          assert.deepEqual([waiter.previous, waiter.next], [null, null])
        }
        assert.equal(queue.size, model.length)
        assert.equal(queue.head, model[0] ?? null)
        assert.deepEqual(
          Array.from(queue, (waiter) => waiter.id),
          model.map((waiter) => waiter.id),
        )
      })
    }
    const scripts = fc.array(step, { maxLength: 80, size: 'max' })
    fc.assert(fc.property(scripts, play), { numRuns: scaled(2000, 1000) })
  })

  it('keeps nothing of a priority without waiters', () => {
    const queue = new WaitQueue()
    const top = waiterOf(0, 1e9)
    queue.push(top)
    for (let i = 1; i <= 10_000; i++) {
      const waiter = waiterOf(i, i)
      queue.push(waiter)
      queue.remove(waiter)
    }
    assert.equal(queue.others.lists.length, 1)
    assert.equal(queue.head, top)
  })
})
