'use strict'
// The leases of a cohort (cohort.js), filed by what callers look for: each is found without a look at the others.

/** Sets of leases of the same number of units. */
class ByUnits {
  #sets = new Map()

  of(units) {
    return this.#sets.get(units) ?? none
  }

  /** The leases of any other number of units. */
  *others(units) {
    for (const [number, set] of this.#sets) if (number !== units) yield* set
  }

  /** Adds `lease` when it `isHere`, else removes it. */
  file(lease, isHere) {
    const set = this.#sets.get(lease.units)
    if (isHere) {
      if (set === undefined) this.#sets.set(lease.units, new Set([lease]))
      else set.add(lease)
    } else if (set?.delete(lease) && set.size === 0) {
      this.#sets.delete(lease.units)
    }
  }
}

const none = new Set()

class OpenLeases {
  /** The leases without a caller. */
  unused = new ByUnits()
  /** The leases that a caller may take: they are held, and have no caller or callers that share. */
  held = new ByUnits()
  /** The leases that a caller may wait for with others, or in their place. */
  asking = new ByUnits()
  #sharedUnits

  /** Callers share the leases of `sharedUnits`, if any. */
  constructor(sharedUnits) {
    this.#sharedUnits = sharedUnits
  }

  /** Files `lease` anew after a change. `isIn`: the cohort still has it. */
  file(lease, isIn) {
    const isUnused = isIn && lease.hasNoUse()
    const isOpen = isUnused || (isIn && lease.units === this.#sharedUnits)
    this.unused.file(lease, isUnused)
    this.held.file(lease, isOpen && lease.state === 'held')
    this.asking.file(lease, isOpen && lease.state === 'asking' && lease.isToWait)
  }
}

module.exports = { OpenLeases }
