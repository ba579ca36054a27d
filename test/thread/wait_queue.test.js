'use strict'
// The wait queue of local locks, beside a model that is a sorted array.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { WaitQueue } = require('../../lib/core/wait_queue.js')
const { scaled } = require('../helpers/scale.js')

const waiterOf = (id, priority) => ({ id, priority, position: 0 })
const priorities = fc.constantFrom(0, 0, 0, -0, 1, -1, 2.5, 7, -7, Infinity, -Infinity)
// Now and then many waiters come or leave together, so that a ring grows and is dropped.
const times = fc.oneof(
  { weight: 5, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.nat(70) },
)
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: fc.constant('push'), priority: priorities, times }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('remove'), which: fc.nat(99), times }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('shift'), times }) },
)

describe('the wait queue', () => {
  it('is first come, first served within a priority, and lets any waiter leave', () => {
    let queue
    let model
    let lastId = 0
    const does = {
      push({ priority }) {
        const waiter = waiterOf(lastId++, priority)
        queue.push(waiter)
        // Array.prototype.sort is stable.
        model = [...model, waiter].sort((a, b) => b.priority - a.priority || 0)
      },
      remove({ which }) {
        const waiter = model[which % model.length]
        queue.remove(waiter)
        assert.equal(queue.has(waiter), false)
        model = model.filter((one) => one !== waiter)
      },
      shift() {
        assert.equal(queue.head, model[0])
        queue.remove(queue.head)
        model.shift()
      },
    }
    const play = (script) => {
      queue = new WaitQueue()
      model = []
      for (const step of script) {
        for (let i = 0; i < step.times; i++) {
          if (step.op === 'push' || model.length > 0) does[step.op](step)
        }
        assert.equal(queue.size, model.length)
        assert.equal(queue.head, model[0] ?? null)
        assert.ok(model.every((waiter) => queue.has(waiter)))
        assert.deepEqual(
          queue.waiters().map((waiter) => waiter.id),
          model.map((waiter) => waiter.id),
        )
      }
    }
    const scripts = fc.array(step, { maxLength: 80, size: 'max' })
    fc.assert(fc.property(scripts, play), { numRuns: scaled(500, 250) })
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

  it('keeps no room for waiters that have left', () => {
    const queue = new WaitQueue()
    const ringLength = () => queue.usual.ring.length
    const head = waiterOf(0, 0)
    queue.push(head)
    for (let i = 1; i <= 10_000; i++) {
      const waiter = waiterOf(i, 0)
      queue.push(waiter)
      queue.remove(waiter)
    }
    assert.ok(ringLength() <= 8, `${ringLength()} places for one waiter`)
    const many = Array.from({ length: 10_000 }, (_, i) => waiterOf(i, 0))
    for (const waiter of many) queue.push(waiter)
    assert.ok(ringLength() >= 10_000)
    for (const waiter of many.splice(10)) queue.remove(waiter)
    const last = waiterOf(0, 0)
    queue.push(last)
    many.push(last)
    assert.ok(ringLength() <= 32, `${ringLength()} places for twelve waiters`)
    queue.remove(head)
    for (const waiter of many) queue.remove(waiter)
    assert.equal(queue.head, null)
    for (const waiter of many) queue.push(waiter)
    for (let i = 0; i < 100; i++) queue.push(waiterOf(i, 0))
    while (queue.head !== null) queue.remove(queue.head)
    assert.equal(ringLength(), 1)
    queue.push(head)
    assert.equal(queue.head, head)
  })

  it('takes a constant number of steps for each waiter, whichever leaves', () => {
    const queue = new WaitQueue()
    let steps = 0
    const counted = () => {
      let position = 0
      return {
        priority: 0,
        get position() {
          return position
        },
        set position(at) {
          steps++
          position = at
        },
      }
    }
    const stuck = counted()
    queue.push(stuck)
    const count = 100_000
    const window = []
    for (let i = 0; i < count; i++) {
      const waiter = counted()
      queue.push(waiter)
      window.push(waiter)
      if (window.length > 1_000) queue.remove(window.shift())
    }
    assert.equal(queue.head, stuck)
    assert.ok(steps < 4 * count, `${steps} moves of ${count} waiters`)
  })
})
