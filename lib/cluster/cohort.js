'use strict'
// The leases of one key that this thread has, which those of its own line share: whoever lets go gives it to the
// next one here, without asking the server, unless others have waited for long enough.
//
// Its own line (a core as threads have it) says who is next. `expected` is how much that one has let in, who have
// not taken their lease yet. As long as they are expected, a lease that nobody has stays; then it goes.
const { listen } = require('../core/abort.js')
const { bounds } = require('../core/cohort.js')
const { Slot } = require('./slot.js')
const { UpgradeSlot } = require('./upgrade_slot.js')

class Cohort {
  #slots = new Set()
  #expected = 0

  /** `owner` has a title() and is told when the server `failed` us, and when we are idle. */
  constructor(hub, key, capacity, owner) {
    this.hub = hub
    this.key = key
    this.capacity = capacity
    this.owner = owner
    this.bound = owner.isStrict ? bounds.none : bounds.far
  }

  title() {
    return this.owner.title()
  }

  /** Whether somebody waits for an answer of the server that has not come. */
  silence() {
    for (const slot of this.#slots) if (slot.isSilent()) return slot
    return undefined
  }

  /** How many wait for the server. */
  waiting() {
    let count = 0
    for (const slot of this.#slots) count += slot.waiters.size
    return count
  }

  /** Rejects them. */
  cancel(reason) {
    for (const slot of this.#slots) rejectAll(slot, reason)
  }

  /** Others wait for the key. */
  isWanted() {
    for (const slot of this.#slots) slot.wanted()
  }

  /** Its own line has let in `cost` more, who will take. */
  expect(cost) {
    this.#expected += cost
  }

  /**
   * A hold on a lease that `wish` fits, or a promise for one: { units, isShared, cost, isToWait, base }, where those who
   * share may have one lease together, and one with a `base`, which is a slot, upgrades that.
   */
  take(wish, signal) {
    this.#expected = Math.max(0, this.#expected - wish.cost)
    // It may have been aborted since its own line has let it in, and tells nobody of it any more.
    signal?.throwIfAborted()
    const slot = this.#find(wish) ?? this.#ask(wish)
    if (slot.state === 'held') {
      const hold = new Hold(slot, wish)
      this.#settle()
      return hold
    }
    return this.#wait(slot, wish, signal)
  }

  #find({ units, isShared, isToWait }) {
    let asking
    for (const slot of this.#slots) {
      const isFree = slot.holds.size === 0 && slot.waiters.size === 0
      if (slot.units !== units || !(isFree || isShared)) continue
      if (slot.state === 'held' && slot.isToPassOn()) return slot
      if (slot.state === 'asking' && slot.isToWait && isToWait) asking ??= slot
    }
    return asking
  }

  #ask({ units, isToWait, base }) {
    const slot =
      base === undefined
        ? new Slot(this, units, isToWait)
        : new UpgradeSlot(this, units, isToWait, base)
    if (this.#slots.size === 0) this.hub.join(this)
    this.#slots.add(slot)
    // What is of no use for that goes first: it may be what the server waits for.
    this.#settle(slot, units)
    slot.ask()
    return slot
  }

  #wait(slot, wish, signal) {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        slot.waiters.delete(waiter)
        reject(signal.reason)
      }
      let listening
      const end = () => listening?.stop(onAbort)
      const waiter = { wish, resolve, reject, end }
      slot.waiters.add(waiter)
      if (signal !== undefined) listening = listen(signal, onAbort)
    })
  }

  granted(slot) {
    for (const waiter of slot.waiters) {
      waiter.end()
      waiter.resolve(new Hold(slot, waiter.wish))
    }
    slot.waiters.clear()
    this.#settle()
  }

  /** The server has said no, or nothing. */
  refused(slot, error = this.owner.timeoutError(0)) {
    this.#forget(slot)
    slot.end()
    rejectAll(slot, error)
  }

  failed(slot, error) {
    this.refused(slot, error)
    this.owner.failed(error)
  }

  lost(slot, error) {
    this.#forget(slot)
    for (const hold of slot.holds) hold.lose(error)
  }

  /** A hold on a slot that is held, for who has another one and is to leave that. */
  share(slot, wish) {
    return new Hold(slot, wish)
  }

  /** One has let go, or given up, and its own line has let in whom it could. */
  leave(hold) {
    for (let one = hold; one !== undefined; one = one.under) one.slot.holds.delete(one)
    this.#settle()
  }

  /** Ends what nobody has and nobody is expected to take; where `units` are wanted, all that are others. */
  #settle(except, units) {
    for (const slot of this.#slots) {
      if (slot === except || slot.holds.size > 0 || slot.waiters.size > 0) continue
      const isUseful = slot.isForOthers() && (units === undefined || slot.units === units)
      const isKept =
        isUseful && this.#expected > 0 && (slot.state === 'asking' || slot.isToPassOn())
      if (isKept) continue
      this.#forget(slot)
      slot.end()
    }
  }

  #forget(slot) {
    if (!this.#slots.delete(slot)) return
    if (this.#slots.size === 0) this.hub.part(this)
  }
}

function rejectAll(slot, reason) {
  const waiters = [...slot.waiters]
  slot.waiters.clear()
  for (const waiter of waiters) {
    waiter.end()
    waiter.reject(reason)
  }
}

/** What one caller has of a lease. */
class Hold {
  #controller
  #error

  constructor(slot, wish) {
    this.slot = slot
    this.wish = wish
    this.isOver = false
    /** What it had before it was upgraded, and has still. */
    this.under = undefined
    /** Whoever held the lease before us, elsewhere, did not let go of it. */
    this.isAbandoned = slot.isAbandoned
    slot.isAbandoned = false
    slot.isUntold = false
    this.token = slot.nextToken()
    slot.holds.add(this)
  }

  lose(error) {
    this.#error = error
    this.#controller?.abort(error)
  }

  /** It is for who had `other`: with the same signal. */
  follow(other) {
    this.#error = other.#error
    this.#controller = other.#controller
  }

  /** Nobody has seen it: the next one is told in its stead of who did not let go. */
  unsee() {
    if (!this.isAbandoned) return
    this.slot.isAbandoned = true
    this.slot.isUntold = true
  }

  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#error !== undefined) this.#controller.abort(this.#error)
    }
    return this.#controller.signal
  }
}

module.exports = { Cohort }
