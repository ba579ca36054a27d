'use strict'
// The leases of a cohort (cohort.js) that a caller may find: the unused ones, and those whose units callers share.
//
// A lease that a caller takes stays filed until the next look at it. So a lease that callers pass on is filed once, not
// at each release, and each look at a lease in vain follows a release of it.

class OpenLeases {
  /** The number of leases without a caller. */
  unused = 0
  /** The leases, by their units. */
  #sets = new Map()
  #sharedUnits

  /** Callers share the leases of `sharedUnits`, if any. */
  constructor(sharedUnits) {
    this.#sharedUnits = sharedUnits
  }

  /** Files `lease` anew after a change. `isIn`: the cohort still has it. */
  file(lease, isIn) {
    const isUnused = isIn && lease.hasNoUse()
    if (isUnused !== lease.isFree) {
      lease.isFree = isUnused
      this.unused += isUnused ? 1 : -1
    }
    if (!isIn) this.remove(lease)
    else if (this.isOpen(lease)) this.#add(lease)
  }

  isOpen(lease) {
    return lease.isFree || lease.units === this.#sharedUnits
  }

  #add(lease) {
    const set = this.#sets.get(lease.units)
    if (set === undefined) this.#sets.set(lease.units, new Set([lease]))
    else set.add(lease)
  }

  remove(lease) {
    const set = this.#sets.get(lease.units)
    if (set?.delete(lease) && set.size === 0) this.#sets.delete(lease.units)
  }

  /** The open leases of `units`, and perhaps leases that callers have taken. */
  of(units) {
    return this.#sets.get(units) ?? none
  }

  /** The leases without a caller, but for those of `units`. */
  *unusedBut(units) {
    for (const [number, set] of this.#sets) {
      if (number === units) continue
      for (const lease of set) {
        if (lease.isFree) yield lease
        else if (!this.isOpen(lease)) this.remove(lease)
      }
    }
  }
}

const none = new Set()

module.exports = { OpenLeases }
