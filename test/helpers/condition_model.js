'use strict'
// Scripts for events and conditions, and a model of conditions: an array of waiters.
const assert = require('node:assert/strict')
const fc = require('fast-check')
const { ConditionVariable, Mutex } = require('../..')
const { settled } = require('./keyed.js')

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('wait'), priority: fc.integer({ max: 2, min: 0 }) }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('abort'), which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.constant({ op: 'set' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'all' }) },
  { weight: 1, arbitrary: fc.constant({ op: 'tryWait' }) },
)
const steps = fc.array(step, { maxLength: 40, size: 'max' })

/** Plays a script with a mutex and a condition that open(Kind) constructs. */
async function playCondition(open, script) {
  const mutex = open(Mutex)
  const condition = open(ConditionVariable)
  const controllers = []
  const seen = []
  const expected = []
  let queue = []
  for (const { op, which } of script) {
    if (op === 'wait') {
      const id = controllers.length
      controllers.push(new AbortController())
      const { signal } = controllers[id]
      const release = await mutex.acquire()
      const over = (how) => () => {
        seen.push(`${id}${how}`)
        release()
      }
      condition.wait(mutex, { signal }).then(over(''), over('!'))
      queue.push(id)
    } else if (op === 'abort') {
      controllers[which]?.abort()
      if (queue.includes(which)) expected.push(`${which}!`)
      queue = queue.filter((id) => id !== which)
    } else if (op === 'set' || op === 'all') {
      op === 'all' ? condition.notifyAll() : condition.notifyOne()
      expected.push(...queue.splice(0, op === 'all' ? Infinity : 1).map(String))
    } else if (op === 'tryWait') {
      const held = mutex.tryAcquire()
      assert.ok(held)
      held()
    }
    await settled()
    assert.deepEqual(seen, expected)
    assert.equal(mutex.isLocked(), false)
  }
  for (const controller of controllers) controller.abort()
}

module.exports = { playCondition, steps }
