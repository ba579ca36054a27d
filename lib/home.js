'use strict'
// The busy keys of a keyed map. A key has a core while it is held or waited for. A core that has
// become idle stays with its key until `mostIdle` of them have come together, and then all that are
// idle still go at once: taking one out of a Map for each release would cost more than the lock (a
// Map in the old generation allocates anew each time it shrinks), and a hot key finds its core.
const { E_CANCELED } = require('./errors.js')

const mostIdle = 256
/** Cores at rest, for any key of their kind to take. */
const mostAtRest = 1024

class Home {
  #all = new Map()
  #atRest
  #make
  /** Cores that have been idle since the last sweep, each once. */
  #idle = []

  /** `make()` makes a core where none is `atRest`. */
  constructor(atRest, make, cancelError = E_CANCELED) {
    this.#atRest = atRest
    this.#make = make
    this.cancelError = cancelError
  }

  /** The cores of busy keys. */
  busy() {
    return Array.from(this.#all.values()).filter((core) => !core.isIdle())
  }

  get size() {
    let idle = 0
    for (const core of this.#idle) if (core.isIdle()) idle++
    return this.#all.size - idle
  }

  /** The core of a key that is busy, or undefined. */
  find(key) {
    checkKey(key)
    const core = this.#all.get(key)
    return core === undefined || core.isIdle() ? undefined : core
  }

  /** The core of any key. Whoever does not go in with it must let it drop. */
  open(key) {
    const known = this.#all.get(key)
    if (known !== undefined) return known
    checkKey(key)
    const core = this.#atRest.pop() ?? this.#make()
    settleIn(core, this, key)
    this.#all.set(key, core)
    return core
  }

  /** `core` has become idle. */
  drop(core) {
    if (core.isListed) return
    core.isListed = true
    this.#idle.push(core)
    if (this.#idle.length === mostIdle) this.#sweep()
  }

  #sweep() {
    // A new Map is cheaper than taking most of the keys out of one.
    const isFresh = this.#all.size <= 2 * mostIdle
    const all = isFresh ? new Map() : this.#all
    if (isFresh) {
      for (const [key, core] of this.#all) if (!core.isIdle()) all.set(key, core)
    }
    for (const core of this.#idle) {
      core.isListed = false
      if (!core.isIdle()) continue
      if (!isFresh) all.delete(core.key)
      core.home = null
      core.key = undefined
      if (this.#atRest.length < mostAtRest) this.#atRest.push(core)
    }
    this.#all = all
    this.#idle = []
  }

  /** What `use` makes of the core of `key`, which may end without going in. */
  with(key, use) {
    const core = this.open(key)
    // Options may have getters, and they may use this very map: the core must stay with its key.
    core.pins++
    try {
      return use(core)
    } finally {
      core.pins--
      core.rest()
    }
  }
}

function settleIn(core, home, key) {
  core.home = home
  core.key = key
  core.isListed = false
  core.pins = 0
  core.cancelError = home.cancelError
}

function checkKey(key) {
  const type = typeof key
  if (type !== 'string' && type !== 'number' && type !== 'bigint') {
    throw new TypeError(`a key must be a string, a number or a bigint, not ${describe(key)}`)
  }
  if (Number.isNaN(key)) throw new RangeError('a key must not be NaN')
}

function describe(value) {
  return value === null ? 'null' : typeof value
}

/** For messages: the string '1' is not the number 1. */
function nameOf(key) {
  return typeof key === 'string' ? JSON.stringify(key) : String(key)
}

module.exports = { checkKey, Home, nameOf }
