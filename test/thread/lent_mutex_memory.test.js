'use strict'
// A lender without memory for another ticket: no waiter stays behind without a ticket.
const assert = require('node:assert/strict')
const { Lender, lent, notLent } = require('../../lib/core/lender.js')
const { LentMutex } = require('../../lib/core/lent_mutex.js')

/** Another thread has the lent lock until lend(). */
class PoorLender extends Lender {
  hasMemory = true
  isTaken = true
  tickets = []
  #last = 0

  tryBorrow() {
    return !this.isTaken && this.tickets.length === 0
  }

  borrow() {
    if (!this.hasMemory) throw Object.assign(new Error('no memory'), { code: 'ERR_LOCK_MEMORY' })
    if (this.tryBorrow()) return lent
    this.tickets.push(++this.#last)
    return this.#last
  }

  borrowNow() {
    return this.tryBorrow() ? lent : notLent
  }

  withdraw(ticket) {
    this.tickets.splice(this.tickets.indexOf(ticket), 1)
    return true
  }

  giveBack() {
    this.isTaken = true
  }

  mayKeep() {
    return false
  }

  isLent() {
    return this.isTaken
  }

  lend() {
    this.isTaken = true
    this.lock.lent(this.tickets.shift(), false)
  }
}

const noMemory = { code: 'ERR_LOCK_MEMORY' }

describe('A lent mutex whose lender has no memory for a ticket', () => {
  let lender
  let mutex
  beforeEach(() => {
    lender = new PoorLender()
    mutex = new LentMutex(lender)
  })

  /** A promise of a releaser, or the error that acquire() throws. */
  const acquire = async (options) => mutex.acquire(options)

  it('does not queue the caller', async () => {
    lender.hasMemory = false
    await assert.rejects(acquire(), noMemory)
    assert.equal(mutex.queueSize(), 0)
    lender.hasMemory = true
    const next = acquire()
    lender.lend()
    ;(await next)()
    assert.deepEqual(lender.tickets, [])
  })

  it("does not queue a strict caller, and leaves the others' tickets alone", async () => {
    mutex.beStrict()
    const first = acquire()
    lender.hasMemory = false
    await assert.rejects(acquire(), noMemory)
    await assert.rejects(acquire({ priority: 1 }), noMemory)
    assert.equal(mutex.queueSize(), 1)
    lender.lend()
    ;(await first)()
    assert.equal(mutex.isHere(), false)
    assert.deepEqual(lender.tickets, [])
  })

  it('rejects all waiters when a new head has another priority', async () => {
    const first = acquire()
    lender.hasMemory = false
    const second = acquire({ priority: 1 })
    await assert.rejects(first, noMemory)
    await assert.rejects(second, noMemory)
    assert.equal(mutex.queueSize(), 0)
    assert.deepEqual(lender.tickets, [])
    lender.hasMemory = true
    const third = acquire()
    lender.lend()
    ;(await third)()
  })

  it('rejects the waiters, and not the releasing holder', async () => {
    const first = acquire()
    const second = acquire()
    lender.lend()
    const release = await first
    lender.hasMemory = false
    release()
    await assert.rejects(second, noMemory)
    assert.equal(mutex.queueSize(), 0)
    lender.hasMemory = true
    const third = acquire()
    lender.lend()
    ;(await third)()
  })
})
