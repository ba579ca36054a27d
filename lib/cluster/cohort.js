'use strict'
// The leases of one key in this thread, shared by the waiters of its local lock. A lease that a
// holder releases goes to the next waiter here without a command to the server, unless other
// processes have waited long enough.
//
// The local lock decides which waiter is next. `expected` is how much the local lock has admitted
// that has no lease yet. While any is expected, a lease without a holder stays; then it ends.
const { listen, reasonOf, throwIfAborted } = require('../core/abort.js')
const { bounds } = require('../core/cohort.js')
const { Hold } = require('./hold.js')
const { Lease } = require('./lease.js')
const { UpgradeLease } = require('./upgrade_lease.js')

class Cohort {
  #leases = new Set()
  #expected = 0
  /** The lease of an upgrading reader; see rise(). */
  #rising

  /** `owner` has a title(), and is called when the server `failed` and when the cohort is idle. */
  constructor(hub, key, capacity, owner, times) {
    this.hub = hub
    this.key = key
    this.capacity = capacity
    this.owner = owner
    this.bound = owner.isStrict ? bounds.none : bounds.far
    this.minHold = times?.minHold ?? 0
    this.maxHold = times?.maxHold ?? hub.settings.maxHold
    this.hasEnd = times?.maxHold < Infinity
    /** Whether each hold has a lease of its own, whose time begins with the hold. */
    this.isForEach = this.hasEnd || this.minHold > 0
  }

  title() {
    return this.owner.title()
  }

  /** The error of a lease that the server has not answered for within `time` ms, if any. */
  silence(time) {
    for (const lease of this.#leases) if (lease.answer.isMissing()) return lease.answer.error(time)
    return undefined
  }

  /** Why the server grants no lock now, if it said so. */
  reason() {
    for (const { reason } of this.#leases) if (reason !== undefined) return reason
    return undefined
  }

  /** The number of callers that wait for the server. */
  waiting() {
    let count = 0
    for (const lease of this.#leases) count += lease.waiters.size
    return count
  }

  /** Rejects the callers that wait for the server to acquire. */
  cancel(reason) {
    for (const lease of this.#leases) {
      const waiters = [...lease.waiters].filter(({ wish }) => !wish.isToStay)
      endAll(lease, ({ reject }) => reject(reason), waiters)
    }
  }

  /** Other processes wait for the key. */
  isWanted() {
    for (const lease of this.#leases) lease.wanted()
  }

  /** The local lock has admitted `cost` more, which will call take(). */
  expect(cost) {
    this.#expected += cost
  }

  /**
   * Returns a hold on a lease that fits `wish`, or a promise of one: { units, isShared, cost,
   * isToWait, isToStay, base }. Callers that share may have one lease together. A wish with a
   * `base`, which is a lease, upgrades that lease.
   */
  take(wish, signal) {
    this.#expected = Math.max(0, this.#expected - wish.cost)
    // The local lock admitted the caller before the signal aborted, and no longer listens to it.
    throwIfAborted(signal)
    const lease = this.#find(wish) ?? this.#ask(wish)
    if (lease.state === 'held') {
      const hold = new Hold(lease, wish)
      this.#sweep()
      return hold
    }
    return this.#wait(lease, wish, signal)
  }

  #find({ units, isShared, isToWait }) {
    let asking
    for (const lease of this.#leases) {
      if (lease.units !== units || !(lease.hasNoUse() || isShared)) continue
      if (lease.state === 'held' && (lease.isToPassOn() || lease === this.#rising)) return lease
      if (lease.state === 'asking' && lease.isToWait && isToWait) asking ??= lease
    }
    return asking
  }

  /**
   * A reader by `lease` waits for the other readers that the local lock has admitted, to become the writer. Until
   * risen() these readers share its lease. A lease of their own could wait at the server for a writer that waits for
   * this one.
   */
  rise(lease) {
    // A lease for one hold has an end, which resolves that.
    if (this.isForEach) return
    this.#rising = lease
    for (const other of this.#leases) {
      if (other.state !== 'asking' || other.units !== lease.units) continue
      endAll(other, ({ wish, resolve }) => resolve(new Hold(lease, wish)))
    }
    this.#sweep()
  }

  risen() {
    this.#rising = undefined
  }

  #ask({ units, isToWait, base }) {
    const Kind = base === undefined ? Lease : UpgradeLease
    const lease = new Kind(this, units, isToWait, base)
    if (this.#leases.size === 0) this.hub.join(this)
    this.#leases.add(lease)
    // First end leases that do not fit: the server may be waiting for them.
    this.#sweep(lease, units)
    lease.ask()
    return lease
  }

  #wait(lease, wish, signal) {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        lease.waiters.delete(waiter)
        reject(reasonOf(signal))
      }
      let listening
      const end = () => listening?.stop(onAbort)
      const waiter = { wish, resolve, reject, end }
      lease.waiters.add(waiter)
      if (signal !== undefined) listening = listen(signal, onAbort)
    })
  }

  granted(lease) {
    endAll(lease, ({ wish, resolve }) => resolve(new Hold(lease, wish)))
    this.#sweep()
  }

  /** The server has refused the lease, or has not answered. */
  refused(lease, error = this.owner.timeoutError(0)) {
    this.#forget(lease)
    lease.end()
    endAll(lease, ({ reject }) => reject(error))
  }

  failed(lease, error) {
    this.refused(lease, error)
    this.owner.failed(error)
  }

  lost(lease, error) {
    this.#forget(lease)
    for (const hold of lease.holds) hold.lose(error)
    if (this.hasEnd) for (const hold of lease.holds) this.owner.end(hold)
  }

  /**
   * A holder has released, or a waiter has given up, and the local lock has admitted the waiters
   * that fit.
   */
  leave(hold) {
    for (let one = hold; one !== undefined; one = one.under) one.lease.holds.delete(one)
    this.#sweep()
  }

  /**
   * Ends each lease that has no holder and expects none. With `units`, ends every lease of another
   * size.
   */
  #sweep(except, units) {
    for (const lease of this.#leases) {
      if (lease === except || !lease.hasNoUse()) continue
      const isUseful = lease.isForOthers && (units === undefined || lease.units === units)
      const isKept =
        isUseful && this.#expected > 0 && (lease.state === 'asking' || lease.isToPassOn())
      if (isKept) continue
      this.#forget(lease)
      lease.end()
    }
  }

  #forget(lease) {
    if (!this.#leases.delete(lease)) return
    if (this.#leases.size === 0) this.hub.part(this)
  }
}

/** Ends the waits of `waiters` for `lease`: `settle` resolves or rejects each of them. */
function endAll(lease, settle, waiters = [...lease.waiters]) {
  for (const waiter of waiters) lease.waiters.delete(waiter)
  for (const waiter of waiters) {
    waiter.end()
    settle(waiter)
  }
}

module.exports = { Cohort }
