'use strict'
// The open leases of a cohort (cohort.js), which a caller may take: those without a caller, and those whose units
// callers share.
//
// A lease that a caller takes stays here until the next look at it. So a lease that callers pass on is added once and
// not at each release.

class OpenLeases {
  /** The number of leases without a caller. */
  unused = 0
  /** The leases, by their units. */
  #sets = new Map()
  #sharedUnits

  /** Callers share leases of `sharedUnits` units, unless that is undefined. */
  constructor(sharedUnits) {
    this.#sharedUnits = sharedUnits
  }

  /** Adds or removes `lease` after a change. `isIn` tells whether the cohort still has it. */
  file(lease, isIn) {
    const isUnused = isIn && lease.hasNoUse()
    if (isUnused !== lease.isFree) {
      lease.isFree = isUnused
      this.unused += isUnused ? 1 : -1
    }
    if (!isIn) {
      this.remove(lease)
    } else if (this.isOpen(lease)) {
      const set = this.#sets.get(lease.units)
      if (set === undefined) this.#sets.set(lease.units, new Set([lease]))
      else set.add(lease)
    }
  }

  isOpen(lease) {
    return lease.isFree || lease.units === this.#sharedUnits
  }

  remove(lease) {
    const set = this.#sets.get(lease.units)
    if (set?.delete(lease) && set.size === 0) this.#sets.delete(lease.units)
  }

  /** Returns the open leases of `units` units, perhaps with leases that callers have taken since. */
  of(units) {
    return this.#sets.get(units) ?? none
  }

  /** Yields the leases without a caller, except those of `units` units. */
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
