'use strict'
// The leases of one key that this thread has, which the waiters of its local lock share: a lease that a holder lets go
// of goes to the next one here, without asking the server, unless others have waited for long enough.
//
// The local lock says which waiter is next. `expected` is how much that lock has let in without a lease so far. As long
// as these are expected, a lease without a holder stays; then it goes.
const { listen } = require('../core/abort.js')
const { bounds } = require('../core/cohort.js')
const { Hold } = require('./hold.js')
const { Lease } = require('./lease.js')
const { UpgradeLease } = require('./upgrade_lease.js')

class Cohort {
  #leases = new Set()
  #expected = 0

  /** `owner` has a title() and is told when the server `failed` us, and when we are idle. */
  constructor(hub, key, capacity, owner, times) {
    this.hub = hub
    this.key = key
    this.capacity = capacity
    this.owner = owner
    this.bound = owner.isStrict ? bounds.none : bounds.far
    this.minHold = times?.minHold ?? 0
    this.maxHold = times?.maxHold ?? hub.settings.maxHold
    this.hasEnd = times?.maxHold < Infinity
    /** Whether each hold has a lease of its own, whose time begins with it. */
    this.isForEach = this.hasEnd || this.minHold > 0
  }

  title() {
    return this.owner.title()
  }

  /** The error of a lease that the server has not answered for within `time` ms, if there is one. */
  silence(time) {
    for (const lease of this.#leases) if (lease.answer.isMissing()) return lease.answer.error(time)
    return undefined
  }

  /** How many wait for the server. */
  waiting() {
    let count = 0
    for (const lease of this.#leases) count += lease.waiters.size
    return count
  }

  /** Rejects them. */
  cancel(reason) {
    for (const lease of this.#leases) endAll(lease, ({ reject }) => reject(reason))
  }

  /** Others wait for the key. */
  isWanted() {
    for (const lease of this.#leases) lease.wanted()
  }

  /** The local lock has let in `cost` more, which will take. */
  expect(cost) {
    this.#expected += cost
  }

  /**
   * A hold on a lease that `wish` fits, or a promise for one: { units, isShared, cost, isToWait, base }. Callers that
   * share may have one lease together, and a wish with a `base`, which is a lease, upgrades that.
   */
  take(wish, signal) {
    this.#expected = Math.max(0, this.#expected - wish.cost)
    // It may have been aborted since the local lock has let it in, and tells nothing of it any more.
    signal?.throwIfAborted()
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
      if (lease.state === 'held' && lease.isToPassOn()) return lease
      if (lease.state === 'asking' && lease.isToWait && isToWait) asking ??= lease
    }
    return asking
  }

  #ask({ units, isToWait, base }) {
    const Kind = base === undefined ? Lease : UpgradeLease
    const lease = new Kind(this, units, isToWait, base)
    if (this.#leases.size === 0) this.hub.join(this)
    this.#leases.add(lease)
    // What is of no use for that goes first: it may be what the server waits for.
    this.#sweep(lease, units)
    lease.ask()
    return lease
  }

  #wait(lease, wish, signal) {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        lease.waiters.delete(waiter)
        reject(signal.reason)
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

  /** The server has said no, or nothing. */
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

  /** A holder has let go, or a waiter given up, and the local lock has let in what it could. */
  leave(hold) {
    for (let one = hold; one !== undefined; one = one.under) one.lease.holds.delete(one)
    this.#sweep()
  }

  /** Ends each lease that has no holder and is expected to get none; where `units` are wanted, all of other units. */
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

/** The waiters of `lease` wait no more: `settle` resolves or rejects each of them. */
function endAll(lease, settle) {
  const waiters = [...lease.waiters]
  lease.waiters.clear()
  for (const waiter of waiters) {
    waiter.end()
    settle(waiter)
  }
}

module.exports = { Cohort }
