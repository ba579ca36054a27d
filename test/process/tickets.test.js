'use strict'
// A waiter that leaves its queue in C++ after it was invited, and before this thread has heard of that: its ticket stays in
// use until the invitation has come.
const assert = require('node:assert/strict')
const { RWLock } = require('../..')
const { tickets } = require('../../lib/process/tickets.js')
const { freshName, useAgents } = require('../helpers/agents.js')

const rounds = 100
const [go, released] = [0, 1]

/** Runs `act`, and returns the number of different tickets that its waiters had. */
async function countTickets(act) {
  const used = new Set()
  const { keep } = Object.getPrototypeOf(tickets)
  tickets.keep = (ticket, waiter) => {
    used.add(ticket)
    keep.call(tickets, ticket, waiter)
  }
  try {
    await act()
  } finally {
    delete tickets.keep
  }
  return used.size
}

describe('A waiter that leaves while its invitation is on its way', () => {
  const agent = useAgents()

  it('gives its ticket back', async () => {
    const where = { scope: 'process', name: freshName() }
    const flag = new Int32Array(new SharedArrayBuffer(8))
    const holder = agent({ where, flag })
    const lock = new RWLock(where)
    await holder.does('my.lock = new boxoffice.RWLock(workerData.where)')
    let left = 0
    const used = await countTickets(async () => {
      for (let round = 1; round <= rounds; ++round) {
        const { done } = await holder.begins(`const release = my.lock.acquireWriteSync()
          say(1)
          Atomics.wait(workerData.flag, ${go}, ${round - 1})
          release()
          Atomics.store(workerData.flag, ${released}, ${round})
          Atomics.notify(workerData.flag, ${released})`)
        const controller = new AbortController()
        const waiting = lock.acquireWrite({ signal: controller.signal }).then(
          (release) => release(),
          (reason) => {
            assert.equal(reason, controller.signal.reason)
            left++
          },
        )
        Atomics.store(flag, go, round)
        Atomics.notify(flag, go)
        // This thread does not return to its event loop, and so does not hear of the release.
        Atomics.wait(flag, released, round - 1)
        controller.abort()
        await Promise.all([waiting, done])
      }
    })
    // The others were granted the lock after all: a slow machine lets a waiter pass that has waited for long.
    assert.ok(left > rounds / 2, `${left} of ${rounds} have left`)
    // Waiters that kept their tickets would have used at least one each. Some come back rounds later, on a busy machine.
    assert.ok(used < left, `${used} tickets for ${left} waiters that have left, one at a time`)
    assert.equal(lock.isLocked(), false)
  })
})
