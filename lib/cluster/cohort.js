'use strict'
// The leases of one key in this thread, which the waiters of its local lock share. A lease that a holder releases goes
// to the next waiter here without a command to the server, unless other processes have waited long enough.
//
// The local lock decides which waiter is next. A lease without a holder is kept while the owner expects callers that the
// local lock has admitted and that have not called take() yet, and ended afterwards.
const { throwIfAborted } = require('../core/abort.js')
const { setImmediate } = require('../core/builtins.js')
const { bounds } = require('../core/cohort.js')
const { UnobservedWaiter, wait } = require('../core/waiter.js')
const { Hold } = require('./hold.js')
const { Lease } = require('./lease.js')
const { OpenLeases } = require('./open_leases.js')
const { UpgradeLease } = require('./upgrade_lease.js')

/** Tells a reader to queue again, behind an upgrade. */
const behind = Symbol('behind')

/** A caller that waits for the server to grant `lease`: engine_lock.js tells the observer of it. */
class LeaseWaiter extends UnobservedWaiter {
  constructor(resolve, limits, { lease, wish }) {
    super(resolve, limits)
    this.lease = lease
    this.wish = wish
  }
}

class Cohort {
  #leases = new Set()
  /** The leases that the server has not granted yet. */
  #asking = new Set()
  #open
  /** The number of callers that wait for the server. */
  waiting = 0
  /** The lease of an upgrading reader; see rise(). */
  #rising
  /** The answers that the leases still await (awaited_answer.js). */
  unanswered = new Set()
  /** Why the server grants no lock now, if it said so in its last answer: see engine.d.ts. */
  reason = undefined

  /** `owner` is the lock. The cohort calls its title(), isExpecting(), failed(error) and give(hold). */
  constructor(owner, key) {
    const { capacity, hub, sharedUnits, times } = owner
    this.hub = hub
    this.key = key
    this.capacity = capacity
    this.owner = owner
    this.#open = new OpenLeases(sharedUnits)
    this.minHold = times?.minHold ?? 0
    this.maxHold = times?.maxHold ?? hub.settings.maxHold
    this.hasEnd = times?.maxHold < Infinity
    /** Whether each hold has its own lease, whose time begins with the hold. */
    this.isForEach = this.hasEnd || this.minHold > 0
  }

  title() {
    return this.owner.title()
  }

  /** How long this thread may pass on a lease while other processes wait: a bound of core/cohort.js. */
  get bound() {
    return this.owner.isStrict ? bounds.fifo : bounds.remote
  }

  /** Returns an error if the server has not answered for one of the leases in most of the last `time` ms. */
  silence(time) {
    for (const answer of this.unanswered) if (answer.isMissing(time / 2)) return answer.error(time)
    return undefined
  }

  isHeld() {
    return this.#leases.size > this.#asking.size
  }

  /** Whether a lease of this thread waits for the server's grant. */
  isAsking() {
    return this.#asking.size > 0
  }

  /** Rejects the callers that wait for the server, except those of waitForUnlock(). */
  cancel(reason) {
    for (const lease of this.#asking) {
      const waiters = [...lease.waiters].filter(({ wish }) => !wish.isToStay)
      this.#endAll(lease, (waiter) => waiter.reject(reason), waiters)
    }
  }

  /** Called when other processes wait for the key. */
  isWanted() {
    for (const lease of this.#leases) lease.wanted()
  }

  /**
   * Returns a hold on a lease that fits `wish`, { units, isToWait, isToStay, base }, or a promise for one. If the wish
   * may not wait, the promise may resolve to undefined. Callers that want the owner's `sharedUnits` may share one lease.
   * A wish with a `base`, a lease, upgrades that lease. A caller that has to wait, and has been cancelled, gets the
   * error `canceled`. Instead of a hold there may be `behind`: see rise().
   */
  take(wish, signal, canceled) {
    // The local lock admitted the caller before the signal aborted, and no longer listens to it.
    throwIfAborted(signal)
    const found = this.#find(wish)
    if (canceled !== undefined && found?.state !== 'held') throw canceled
    if (found !== undefined && found === this.#rising && this.isForEach) return behind
    const lease = found ?? this.#ask(wish)
    if (lease.state === 'held') {
      const hold = new Hold(lease, wish)
      this.#file(lease)
      this.#sweep()
      return hold
    }
    const waiting = wait(this, LeaseWaiter, 1, { priority: 0, signal }, { lease, wish })
    // End leases that were kept for this caller and do not fit: the server may be waiting for them.
    this.#sweep()
    return waiting
  }

  #find({ units, isToWait }) {
    const rising = this.#rising
    if (rising?.state === 'held' && rising.units === units) return rising
    let asking
    for (const lease of this.#open.of(units)) {
      if (!this.#open.isOpen(lease)) this.#open.remove(lease)
      else if (!lease.isFirst && lease.state === 'asking')
        asking ??= isToWait && lease.isToWait ? lease : undefined
      else if (!lease.isFirst && lease.isToPassOn()) return lease
      // No later caller can take this lease, so do not look at it again.
      else if (lease.isFree) this.#end(lease)
      else this.#open.remove(lease)
    }
    return asking
  }

  /**
   * Called when a reader with `lease` upgrades, and waits for the other readers that the local lock has admitted. Until
   * risen() these readers share its lease. Another lease could wait at the server behind a writer that waits for this
   * one. If each hold has its own lease, they go `behind` the upgrade, into the queue of the local lock.
   */
  rise(lease) {
    // A lost lease admits no reader.
    if (lease.state !== 'held') return
    this.#rising = lease
    const give = ({ wish, resolve }) => resolve(this.isForEach ? behind : new Hold(lease, wish))
    for (const other of this.#asking) if (other.units === lease.units) this.#endAll(other, give)
    this.#sweep()
  }

  risen() {
    this.#rising = undefined
    this.#sweep()
  }

  #ask({ units, isToWait, base }) {
    const Kind = base === undefined ? Lease : UpgradeLease
    const lease = new Kind(this, units, isToWait, base)
    // First end leases that do not fit: the server may be waiting for them.
    for (const other of this.#open.unusedBut(units)) this.#end(other)
    this.#sweep()
    if (this.#leases.size === 0) {
      this.hub.join(this)
      this.reason = undefined
    }
    this.#leases.add(lease)
    this.#asking.add(lease)
    lease.ask()
    return lease
  }

  enqueue(waiter) {
    const { lease } = waiter
    lease.waiters.add(waiter)
    this.waiting++
    this.#file(lease)
  }

  leave(waiter, reason) {
    this.#remove(waiter.lease, waiter)
    waiter.giveUp(reason)
  }

  #remove(lease, waiter) {
    if (lease.waiters.delete(waiter)) this.waiting--
    this.#file(lease)
  }

  /** Ends the waits of `waiters` for `lease`: `settle` resolves or rejects each of them. */
  #endAll(lease, settle, waiters = [...lease.waiters]) {
    for (const waiter of waiters) this.#remove(lease, waiter)
    for (const waiter of waiters) {
      waiter.end()
      settle(waiter)
    }
  }

  /** Gives back all but `units` of `lease`. */
  shrink(lease, units) {
    this.#open.remove(lease)
    lease.shrink(units)
    this.#file(lease)
  }

  granted(lease) {
    this.#asking.delete(lease)
    // A message may have granted it, after an answer with a reason.
    this.reason = undefined
    this.#endAll(lease, ({ wish, resolve }) => resolve(new Hold(lease, wish)))
    this.#file(lease)
    this.#sweep()
  }

  /** Ends the waits of the lease's callers: they reject with `error`, or resolve to undefined without one. */
  denied(lease, error) {
    this.#forget(lease)
    lease.end()
    this.#endAll(lease, (waiter) =>
      error === undefined ? waiter.resolve(undefined) : waiter.reject(error),
    )
  }

  /** Rejects the callers that wait for the server, because the engine closes. */
  close(error) {
    for (const lease of this.#asking) this.failed(lease, error)
  }

  failed(lease, error) {
    this.denied(lease, error)
    this.owner.failed(error)
  }

  lost(lease, error) {
    this.#forget(lease)
    // The driver forgets all requests of a session together. close() still leaves for them.
    if (!lease.session.isOver) this.hub.driver.forget?.({ key: this.key, id: lease.id })
    for (const hold of lease.holds) hold.lose(error)
    // A caller whose hold has exceeded maxHold may still be running, but the waiters of this thread do not wait for it.
    if (!this.hasEnd) return
    for (const hold of lease.holds) {
      if (hold.caller !== undefined) this.owner.give(hold)
      // It was granted in this turn of the event loop, and its caller takes it first.
      else setImmediate(() => lease.holds.has(hold) && this.owner.give(hold))
    }
  }

  /**
   * Called after a holder has released, or a waiter has given up, and the local lock has admitted the waiters that fit.
   */
  release(hold) {
    for (let one = hold; one !== undefined; one = one.under) {
      one.lease.holds.delete(one)
      this.#file(one.lease)
    }
    this.#sweep()
  }

  /** Called when the state, the callers or the units of `lease` have changed. */
  #file(lease) {
    this.#open.file(lease, this.#leases.has(lease))
  }

  /**
   * Ends the leases without a caller, unless callers are expected, which arrive in this turn of the event loop.
   */
  #sweep() {
    if (this.#open.unused === 0 || this.owner.isExpecting()) return
    for (const lease of this.#open.unusedBut()) this.#end(lease)
  }

  #end(lease) {
    this.#forget(lease)
    lease.end()
  }

  #forget(lease) {
    if (!this.#leases.delete(lease)) return
    this.#asking.delete(lease)
    this.#open.file(lease, false)
    if (this.#leases.size === 0) this.hub.part(this)
  }
}

module.exports = { Cohort, behind }
