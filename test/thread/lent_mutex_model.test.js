'use strict'
// Random scripts on a mutex that borrows from a lender which lends late, tells of deaths, has other threads, and may end.
// After each step: at most one grant, and only of a loan; the waiter that was admitted was the first; a death is told once.
// At the end: each waiter has been admitted or told why not, and each loan has been given back once.
const assert = require('node:assert/strict')
const { getEventListeners } = require('node:events')
const fc = require('fast-check')
const { Lender, lent, lentAbandoned, refused } = require('../../lib/core/lender.js')
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
    { weight: 2, arbitrary: op('releaseUnseen') },
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

const nobody = 0
const us = 1
const other = 2

/** The word and the queue that threads share. Others are always in time; we hear of a loan by deliver(). */
class FakeLender extends Lender {
  owner = nobody
  hasDied = false
  /** { ticket, priority, thread }, in order. */
  line = []
  /** Loans that are on the way to us. */
  underway = []
  mayStay = true
  isAlive = false
  loans = 0
  returns = 0
  /** Why it lends no more. */
  error = undefined
  /** Loans that told of a death, and returns that do. */
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
    if (this.owner !== nobody) return refused
    const wasDeath = this.hasDied
    this.#take(us)
    return wasDeath ? lentAbandoned : lent
  }

  borrow(priority) {
    const answer = this.line.length === 0 ? this.borrowNow() : refused
    return answer === refused ? this.#enter(priority, us) : answer
  }

  withdraw(ticket) {
    const at = this.line.findIndex((one) => one.ticket === ticket)
    if (at >= 0) this.line.splice(at, 1)
    else assert.ok(this.underway.some((one) => one.ticket === ticket))
    // Without a ticket this thread would lose its place among the others.
    const isOurs = ({ thread }) => thread === us
    const keepsPlace = this.owner === us || this.underway.length > 0 || this.line.some(isOurs)
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

  hear() {
    this.deliver()
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
    return this.owner !== nobody
  }

  isOurs() {
    return this.owner === us
  }

  queueSize() {
    return this.line.length
  }

  stands() {
    return false
  }

  otherAsks(priority) {
    if (this.owner === nobody) this.#take(other)
    else this.#enter(priority, other)
  }

  otherEnds(isDeath) {
    if (this.owner === other) this.end(isDeath)
  }

  /** It lends no more, and other threads have gone. */
  vanish() {
    this.error = Object.assign(new Error('gone'), { code: 'ERR_LOCK_SEGMENT' })
    this.line = this.line.filter(({ thread }) => thread === us)
    this.lock.endAll(this.error)
  }

  /** The owner lets go, and the next one of the line is the owner. */
  end(isDeath) {
    this.owner = nobody
    this.hasDied ||= isDeath
    const next = this.line.shift()
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
    const behind = this.line.findIndex((one) => one.priority < priority)
    this.line.splice(behind < 0 ? this.line.length : behind, 0, { ticket, priority, thread })
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
  /** Grants that told of a death, but for those whose caller never saw it. */
  told = 0
  /** What callers of onIdle() have heard, and should have. */
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
        // Those that came before, and those of a higher priority, have gone first.
        const ahead = this.waiting.filter((one) => one.priority > priority)
        const late = [...before.filter((one) => one.priority >= priority), ...ahead]
        // A watcher of a free lock is told at once, whoever waits for the word of a grant.
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

  /** As one whose caller never saw it. */
  releaseUnseen() {
    const { held } = this
    if (held === undefined) return
    const unseen = Object.getOwnPropertySymbols(held).find(
      ({ description }) => description === 'unseen',
    )
    assert.equal(unseen !== undefined, held.abandoned)
    if (unseen !== undefined) this.told--
    held[unseen ?? 'release']()
    this.#ends()
  }

  #ends() {
    this.past = this.held ?? this.past
    this.held = undefined
  }

  /** It is stale. */
  releaseAgain() {
    this.past?.()
  }

  cancel() {
    this.mutex.cancel()
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
    const isIdle = this.waiting.length === 0 && lender.loans === lender.returns
    for (const idle of this.idles) {
      idle.isDue ||= isIdle
      assert.equal(idle.isTold, idle.isDue)
    }
    assert.equal(mutex.isHere(), this.held !== undefined)
    const mine = lender.line.filter(({ thread }) => thread === us).length
    const isOwed = lender.underway.length > 0
    assert.equal(lender.loans, lender.returns + +(mutex.isHere() || isOwed))
    if (mutex.tickets === null) assert.ok(mine <= 1)
    if (lender.error !== undefined) assert.deepEqual([mutex.queueSize(), this.waiting], [0, []])
    if (mutex.hasQueue() && !mutex.isHere()) {
      assert.ok(mine > 0 || isOwed, 'waiters without a ticket')
      assert.ok(lender.isAlive)
      const { head } = mutex.queue
      const top = Math.max(
        ...lender.line.map((one) => (one.thread === us ? one.priority : -Infinity)),
      )
      // A strict waiter may have the ticket of one that went before it by a higher priority.
      if (!isOwed) assert.ok(mutex.isStrict ? top >= head.priority : top === head.priority)
    }
    if (mutex.isHere() || (!mutex.hasQueue() && !isOwed)) assert.ok(!lender.isAlive)
    if (!mutex.hasQueue() && !mutex.isHere()) assert.equal(mine, 0)
  }

  /** All let go, until none waits. */
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
    assert.deepEqual([lender.owner, lender.line, lender.isAlive], [nobody, [], false])
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
