'use strict'
// Plans the change of a key: the steps of an engine (../engine.js) turn a view (view.js) into a plan. commit.js writes
// it if the view is still current. Nothing here calls etcd.
const { sessionOf } = require('./names.js')
const { mostGrants, waitersOf } = require('./view.js')

/** The most ended sessions in one plan: its transaction has a guard for each of them, and room for 128 operations. */
const mostDead = 64

class Plan {
  /** The ended sessions whose holders this plan removes. */
  dead = new Set()
  /** Whether more than `mostDead` sessions have ended. The next plan removes the holders of the rest. */
  hasMoreDead = false
  /** The requests that leave the queue: those that are admitted, and those that are removed without a grant. */
  admitted = []
  removed = []
  hasChanged = false
  /** Whether the plan frees units or places in the queue. Then requests that this view does not know of might fit. */
  hasFreed = false
  /** Whether a request is admitted without joining the queue. Then the queue must have no newer request. */
  hasTaken = false
  /** The length in ms of a rest that begins; 0 ends the rest; undefined changes nothing. */
  restTime = undefined
  #grants = 0

  /** `time` is the current time, `claim` and `minHold` are of the request, and `own` is its entry in the queue. */
  constructor(view, { time, claim, minHold, own, isDead }) {
    this.view = view
    this.time = time
    this.claim = claim
    this.minHold = minHold
    this.own = own
    this.isDead = isDead
    const { capacity, abandoned, holders } = view.lock
    this.capacity = capacity
    this.abandoned = abandoned
    this.holders = holders.map((holder) => ({ ...holder }))
    /** The waiting requests, in the order of admission. */
    this.waiters = waitersOf(view)
  }

  /** Whether no other plan has to follow this one. */
  isComplete() {
    const mayAdmitMore = this.view.hasMore && this.hasRoom()
    return !this.hasMoreDead && !mayAdmitMore && this.#grants < mostGrants
  }

  holder(id) {
    return this.holders.find((holder) => holder.id === id)
  }

  isResting() {
    if (this.restTime !== undefined) return this.restTime > 0
    const { rest } = this.view
    return rest !== undefined && this.time - rest.since < rest.time
  }

  free() {
    return this.holders.reduce((free, { units }) => free - units, this.capacity)
  }

  /** Removes holders whose session or time has ended. */
  reap() {
    const lives = ({ id, time, since }) => {
      const session = sessionOf(id)
      if (!this.isDead(session)) return this.time - since < time
      this.hasMoreDead ||= this.dead.size === mostDead && !this.dead.has(session)
      if (!this.hasMoreDead) this.dead.add(session)
      return this.hasMoreDead
    }
    const left = this.holders.filter(lives)
    if (left.length === this.holders.length) return
    this.holders = left
    this.abandoned = true
    this.#free()
  }

  #free() {
    this.hasFreed = true
    this.hasChanged = true
  }

  #grant({ id, units }, time) {
    const place = this.#grants++
    this.holders.push({ id, units, time, count: 0, place, abandoned: this.abandoned })
    this.abandoned = false
    this.hasChanged = true
    if (this.minHold > 0) this.restTime = this.minHold
  }

  /** Admits requests from the head of the queue while they fit. `own` gets its full `maxHold`, others get a claim. */
  admit(own) {
    for (const entry of this.waiters) {
      const { id, units, capacity } = entry
      // Skip a request of another capacity, or a duplicate: its own process will withdraw it.
      const isOther = capacity !== this.capacity || this.holder(id) !== undefined
      if (isOther) continue
      if (this.#grants === mostGrants || this.isResting() || units > this.free()) break
      this.#grant(entry, id === own?.id ? own.maxHold : this.claim)
      this.admitted.push(entry)
    }
    this.waiters = this.waiters.filter(({ id }) => this.holder(id) === undefined)
  }

  /** Admits a request that is not in the queue. */
  take({ id, units, maxHold }) {
    this.hasTaken = true
    this.#grant({ id, units }, maxHold)
  }

  confirm(holder, maxHold) {
    holder.time = maxHold
    holder.count++
    this.hasChanged = true
  }

  /** Releases all but `keep` units, and leaves the queue. */
  leave({ id, keep, untold, unused }) {
    this.#withdraw(id)
    const holder = this.holder(id)
    if (holder === undefined) return
    if (keep > 0) {
      // Two such requests may arrive in the wrong order, so never increase the units.
      if (holder.units <= keep) return
      holder.units = keep
    } else {
      this.holders = this.holders.filter((one) => one !== holder)
      if (untold && holder.abandoned) this.abandoned = true
      if (unused && this.isResting()) this.restTime = 0
    }
    this.#free()
  }

  #withdraw(id) {
    const entry = this.waiters.find((one) => one.id === id) ?? this.own
    if (entry === undefined) return
    this.waiters = this.waiters.filter((one) => one !== entry)
    this.removed.push(entry)
    this.#free()
  }

  /** Whether this view shows a waiting request other than `id`. */
  isWanted(id) {
    return this.waiters.some((one) => one.id !== id)
  }

  /** Whether a request that this view does not know of might fit. */
  hasRoom() {
    return this.free() > 0 && !this.isResting()
  }
}

/** Plans enter(), and returns the state of its answer. */
function planEnter(plan, request) {
  const { id, units, capacity, maxHold, first } = request
  plan.reap()
  if (plan.hasMoreDead) return 'waiting'
  const isInUse = plan.holders.length > 0 || plan.isWanted(id)
  if (!isInUse) plan.capacity = capacity
  else if (plan.capacity === 0) plan.capacity = plan.waiters[0].capacity
  if (plan.capacity !== capacity) return 'mismatch'
  const known = plan.holder(id)
  if (known !== undefined) {
    plan.confirm(known, maxHold)
    return 'held'
  }
  plan.admit(request)
  if (plan.holder(id) !== undefined) return 'held'
  const isQueued = plan.waiters.some((one) => one.id === id)
  const isEmpty = plan.waiters.length === 0 && !plan.view.hasMore
  const isNext = isEmpty || (first && plan.view.upgrade === undefined)
  if (!isQueued && isNext && units <= plan.free() && !plan.isResting()) {
    plan.take(request)
    return 'held'
  }
  const { upgrade } = plan.view
  if (first && upgrade !== undefined && upgrade.id !== id) return 'upgrading'
  return request.wait ? 'waiting' : 'refused'
}

function planConfirm(plan, { id, maxHold }) {
  plan.reap()
  const holder = plan.holder(id)
  if (holder === undefined) return 'over'
  plan.confirm(holder, maxHold)
  return 'held'
}

function planLeave(plan, request) {
  plan.leave(request)
  plan.reap()
  if (plan.capacity === 0) plan.capacity = plan.waiters[0]?.capacity ?? 0
  plan.admit()
}

module.exports = { Plan, planConfirm, planEnter, planLeave }
