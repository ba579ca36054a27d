'use strict'
// Random scripts on a mutex whose lender lends late, reports deaths, has other threads, and may
// end. After each step: at most one grant, and only of a loan; the admitted waiter was the first; a
// death is reported once. At the end: each waiter has been admitted or rejected with the right
// reason, and each loan has been given back once.
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const fc = require('fast-check')
const { E_CANCELED } = require('../..')
const { Lender, lent, lentAbandoned, notLent } = require('../../lib/core/lender.js')
const { LentMutex } = require('../../lib/core/lent_mutex.js')
const { turn } = require('../helpers/promises.js')
const { FakeTimers } = require('../helpers/timers.js')

const numRuns = 3000

const op = (name, ...args) => fc.tuple(fc.constant(name), ...args)
const priority = fc.constantFrom(0, 0, 0, 1, -1, 2, 0.5)
const wait = [priority, fc.constantFrom(undefined, undefined, undefined, 0, 5, 10)]
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: op('acquire', ...wait) },
    { weight: 2, arbitrary: op('acquirePlainly') },
    { weight: 2, arbitrary: op('waitForUnlock', ...wait) },
    { weight: 2, arbitrary: op('tryAcquire') },
    { weight: 6, arbitrary: op('release') },
    { weight: 2, arbitrary: op('releaseUndelivered') },
    { weight: 1, arbitrary: op('releaseAgain') },
    { weight: 1, arbitrary: op('cancel') },
    { weight: 3, arbitrary: op('abort', fc.nat(40)) },
    { weight: 2, arbitrary: op('tick', fc.integer({ min: 1, max: 8 })) },
    { weight: 3, arbitrary: op('turn') },
    { weight: 4, arbitrary: op('otherAsks', priority) },
    { weight: 5, arbitrary: op('otherEnds', fc.boolean()) },
    { weight: 4, arbitrary: op('deliver') },
    { weight: 2, arbitrary: op('patience', fc.boolean()) },
    { weight: 1, arbitrary: op('beStrict') },
    { weight: 1, arbitrary: op('onIdle') },
  ),
  { maxLength: 60, size: 'max' },
)

const noThread = 0
const us = 1
const other = 2

/**
 * The word and the queue that threads share. Other threads never miss a loan; this thread gets one
 * by deliver().
 */
class FakeLender extends Lender {
  owner = noThread
  hasDied = false
  /** { ticket, priority, thread }, in order. */
  queue = []
  /** Loans on their way to this thread. */
  underway = []
  mayStay = true
  isAlive = false
  loans = 0
  returns = 0
  /** The error with which the lender has ended. */
  error = undefined
  /** Loans that reported a death, and returns that report one. */
  deathsLent = 0
  deathsReturned = 0
  #lastTicket = 0

  tryBorrow() {
    return this.error === undefined && !this.hasDied && this.borrowNow() === lent
  }

  refusal() {
    return this.error
  }

  borrowNow() {
    if (this.error !== undefined) throw this.error
    if (this.owner !== noThread) return notLent
    const wasDeath = this.hasDied
    this.#take(us)
    return wasDeath ? lentAbandoned : lent
  }

  borrow(priority) {
    const answer = this.queue.length === 0 ? this.borrowNow() : notLent
    return answer === notLent ? this.#enter(priority, us) : answer
  }

  withdraw(ticket) {
    const at = this.queue.findIndex((one) => one.ticket === ticket)
    if (at >= 0) this.queue.splice(at, 1)
    else assert.ok(this.underway.some((one) => one.ticket === ticket))
    // Without a ticket this thread would lose its place among the others.
    const isOurs = ({ thread }) => thread === us
    const keepsPlace = this.owner === us || this.underway.length > 0 || this.queue.some(isOurs)
    assert.ok(keepsPlace || !this.lock.hasQueue() || this.lock.isStrict)
    return at >= 0
  }

  giveBack(isAbandoned) {
    assert.equal(this.owner, us)
    assert.equal(this.underway.length, 0)
    this.returns++
    if (isAbandoned) this.deathsReturned++
    this.end(isAbandoned)
    return this.underway.length > 0 ? this.underway : undefined
  }

  deliver() {
    const [loan] = this.underway.splice(0, 1)
    if (loan !== undefined) this.lock.lent(loan.ticket, loan.isAbandoned)
  }

  mayKeep() {
    assert.equal(this.owner, us)
    return this.mayStay
  }

  keepAlive(isWaiting) {
    assert.notEqual(this.isAlive, isWaiting)
    this.isAlive = isWaiting
  }

  isLent() {
    return this.owner !== noThread
  }

  isOurs() {
    return this.owner === us
  }

  queueSize() {
    return this.queue.length
  }

  isQueuedElsewhere() {
    return false
  }

  otherAsks(priority) {
    if (this.owner === noThread) this.#take(other)
    else this.#enter(priority, other)
  }

  otherEnds(isDeath) {
    if (this.owner === other) this.end(isDeath)
  }

  /** The lender ends, and other threads are gone. */
  vanish() {
    this.error = Object.assign(new Error('gone'), { code: 'ERR_LOCK_SEGMENT' })
    this.queue = this.queue.filter(({ thread }) => thread === us)
    this.lock.endAll(this.error)
  }

  /** The owner releases, and the head of the queue becomes the owner. */
  end(isDeath) {
    this.owner = noThread
    this.hasDied ||= isDeath
    const next = this.queue.shift()
    if (next === undefined) return
    const isAbandoned = this.hasDied
    this.#take(next.thread)
    if (next.thread === us) this.underway.push({ ticket: next.ticket, isAbandoned })
  }

  #take(thread) {
    this.owner = thread
    if (thread === us) {
      this.loans++
      if (this.hasDied) this.deathsLent++
    }
    this.hasDied = false
  }

  #enter(priority, thread) {
    const ticket = this.#lastTicket++
    const behind = this.queue.findIndex((one) => one.priority < priority)
    this.queue.splice(behind < 0 ? this.queue.length : behind, 0, { ticket, priority, thread })
    return ticket
  }
}

class Script {
  lender = new FakeLender()
  mutex = new LentMutex(this.lender)
  /** Waiters that have not settled: { id, priority, isPasser }. */
  waiting = []
  waits = []
  held = undefined
  past = undefined
  /** Grants that reported a death, except those whose caller never saw it. */
  told = 0
  /** Which callers of onIdle() have resolved, and which should have. */
  idles = []

  constructor(clock) {
    this.clock = clock
  }

  /** The lender ends before the step of index `end`, if there is one. */
  async play(script, end) {
    for (const [at, [name, ...args]] of script.entries()) {
      if (at === end) this.lender.vanish()
      const later = this[name](...args)
      if (later !== undefined) await later
      await this.check()
    }
    await this.drain()
  }

  acquire(priority, timeout) {
    this.#wait('acquire', priority, timeout, (release) => this.begins(release))
  }

  acquirePlainly() {
    this.#settles(this.mutex.acquire(), 0, (release) => this.begins(release))
  }

  waitForUnlock(priority, timeout) {
    this.#wait('waitForUnlock', priority, timeout, () => {})
  }

  #wait(method, priority, timeout, use) {
    const controller = new AbortController()
    this.waits.push(controller)
    const options = { priority, timeout, signal: controller.signal }
    this.#settles(this.mutex[method](options), priority, use, method)
  }

  #settles(promise, priority, use, method = 'acquire') {
    const waiter = { priority, isPasser: method === 'waitForUnlock' }
    this.waiting.push(waiter)
    promise.then(
      (value) => {
        const before = this.waiting.slice(0, this.waiting.indexOf(waiter))
        // Earlier waiters, and those of a higher priority, have gone first.
        const ahead = this.waiting.filter((one) => one.priority > priority)
        const late = [...before.filter((one) => one.priority >= priority), ...ahead]
        // A watcher of a free lock resolves at once, even if callers have a grant that they have
        // not seen.
        if (!waiter.isPasser)
          assert.deepEqual(
            late.filter((one) => !one.isPasser && !one.isIn),
            [],
          )
        this.#forget(waiter)
        use(value)
      },
      (error) => {
        assert.ok(
          error === 'aborted' || /^ERR_LOCK_(TIMEOUT|CANCELED|SEGMENT)$/.test(error.code),
          error,
        )
        this.#forget(waiter)
      },
    )
  }

  #forget(waiter) {
    this.waiting.splice(this.waiting.indexOf(waiter), 1)
  }

  begins(release) {
    assert.equal(this.held, undefined)
    assert.equal(this.lender.owner, us)
    this.held = release
    if (release.abandoned) this.told++
  }

  tryAcquire() {
    const { error } = this.lender
    if (error !== undefined && this.mutex.isFree()) {
      assert.throws(() => this.mutex.tryAcquire(), error)
      return
    }
    const release = this.mutex.tryAcquire()
    if (release !== undefined) this.begins(release)
  }

  release() {
    this.held?.()
    this.#ends()
  }

  /** Releases as a caller that never saw the grant. */
  releaseUndelivered() {
    const { held } = this
    if (held === undefined) return
    const undelivered = Object.getOwnPropertySymbols(held).find(
      ({ description }) => description === 'undelivered',
    )
    assert.equal(undelivered !== undefined, held.abandoned)
    if (undelivered !== undefined) this.told--
    held[undelivered ?? 'release']()
    this.#ends()
  }

  #ends() {
    this.past = this.held ?? this.past
    this.held = undefined
  }

  /** The releaser is stale. */
  releaseAgain() {
    this.past?.()
  }

  cancel() {
    this.mutex.cancel(E_CANCELED)
  }

  abort(which) {
    if (this.waits.length > 0) this.waits[which % this.waits.length].abort('aborted')
  }

  tick(ms) {
    this.clock.tick(ms)
  }

  turn() {
    return turn()
  }

  otherAsks(priority) {
    this.lender.otherAsks(priority)
  }

  otherEnds(isDeath) {
    this.lender.otherEnds(isDeath)
  }

  deliver() {
    this.lender.deliver()
  }

  patience(mayStay) {
    this.lender.mayStay = mayStay
  }

  beStrict() {
    this.mutex.beStrict()
  }

  onIdle() {
    const idle = { isTold: false, isDue: false }
    this.idles.push(idle)
    this.mutex.onIdle().then(() => {
      idle.isTold = true
    })
  }

  async check() {
    await turn()
    const { lender, mutex } = this
    // Passers alone keep no lock from being idle.
    const isWanted = this.waiting.some(({ isPasser }) => !isPasser)
    const isIdle = !isWanted && lender.loans === lender.returns
    // With passers in the queue the lock may be idle before a loan on its way has been returned.
    const mayBeIdle = !isWanted && !mutex.isHere()
    for (const idle of this.idles) {
      idle.isDue ||= isIdle || (mayBeIdle && idle.isTold)
      assert.equal(idle.isTold, idle.isDue)
    }
    assert.equal(mutex.isHere(), this.held !== undefined)
    const mine = lender.queue.filter(({ thread }) => thread === us).length
    const isOwed = lender.underway.length > 0
    assert.equal(lender.loans, lender.returns + +(mutex.isHere() || isOwed))
    if (mutex.tickets === null) assert.ok(mine <= 1)
    if (lender.error !== undefined) assert.deepEqual([mutex.queueSize(), this.waiting], [0, []])
    if (mutex.hasQueue() && !mutex.isHere()) {
      assert.ok(mine > 0 || isOwed, 'waiters without a ticket')
      assert.ok(lender.isAlive)
      const { head } = mutex.queue
      const top = Math.max(
        ...lender.queue.map((one) => (one.thread === us ? one.priority : -Infinity)),
      )
      // A strict waiter may have the ticket of a waiter that a higher priority let go first.
      if (!isOwed) assert.ok(mutex.isStrict ? top >= head.priority : top === head.priority)
    }
    if (mutex.isHere() || (!mutex.hasQueue() && !isOwed)) assert.ok(!lender.isAlive)
    if (!mutex.hasQueue() && !mutex.isHere()) assert.equal(mine, 0)
  }

  /** Every holder releases, until there are no waiters. */
  async drain() {
    for (let i = 0; this.waiting.length > 0 || this.held !== undefined; i++) {
      assert.ok(i < 1000, 'a waiter is lost')
      this.release()
      this.lender.otherEnds(false)
      this.lender.deliver()
      await this.check()
    }
    for (let i = 0; i < 100; i++) {
      this.lender.otherEnds(false)
      this.lender.deliver()
    }
    await this.check()
    const { lender, mutex } = this
    assert.deepEqual([lender.owner, lender.queue, lender.isAlive], [noThread, [], false])
    assert.ok(mutex.isFree())
    assert.equal(lender.loans, lender.returns)
    assert.equal(lender.deathsLent, this.told + lender.deathsReturned)
    assert.equal(this.clock.pending, 0)
    for (const { signal } of this.waits) {
      assert.equal(getEventListeners(signal, 'abort').length, 0)
    }
  }
}

describe('a mutex that borrows', function () {
  this.timeout(60_000)

  it('has one holder at a time, in order, and loses neither a waiter nor a loan', async () => {
    const end = fc.option(fc.nat(60))
    const property = fc.asyncProperty(steps, end, async (script, end) => {
      const clock = new FakeTimers().install()
      try {
        await new Script(clock).play(script, end)
      } finally {
        clock.uninstall()
      }
    })
    await fc.assert(property, { numRuns })
  })
})
