'use strict'
// Waits that have no priority: all waiters go on together, or in their own order.
const assert = require('node:assert/strict')
const { Barrier, ConditionVariable, CountdownLatch, Mutex } = require('../..')

const allowed = { allowBlockingMainThread: true }
const scopes = { 'one thread': {}, 'several threads': { shared: true } }

describe('a wait without a priority', () => {
  for (const [scope, options] of Object.entries(scopes)) {
    const barrier = new Barrier(2, { ...options, ...allowed })
    const latch = new CountdownLatch(1, { ...options, ...allowed })
    const condition = new ConditionVariable({ ...options, ...allowed })
    const mutex = new Mutex(options)
    const waits = {
      'Barrier.wait': (given) => barrier.wait(given),
      'Barrier.waitSync': (given) => barrier.waitSync(given),
      'CountdownLatch.wait': (given) => latch.wait(given),
      'CountdownLatch.waitSync': (given) => latch.waitSync(given),
      'ConditionVariable.wait': (given) => condition.wait(mutex, given),
      'ConditionVariable.waitSync': (given) => condition.waitSync(mutex, given),
    }
    before(() => mutex.lock())
    after(() => mutex.unlock())

    for (const [way, wait] of Object.entries(waits)) {
      it(`takes no number, which may be meant as a timeout: ${way}, ${scope}`, async () => {
        await assert.rejects(async () => wait(20), {
          name: 'TypeError',
          message: 'options must be an object; for a timeout: { timeout: 20 }',
        })
        await assert.rejects(async () => wait({ priority: 1 }), {
          name: 'TypeError',
          message: 'unknown option "priority" (known: signal, timeout)',
        })
        assert.deepEqual([barrier.waiting, latch.count, mutex.isLocked()], [0, 1, true])
      })
    }
  }
})
