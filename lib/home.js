'use strict'
// The busy keys of a keyed map. A key has a core while it is held or waited for. A core that has
// become idle stays with its key until `mostIdle` of them have come together, and then all that are
// idle still go at once: taking one out of a Map for each release would cost more than the lock (a
// Map in the old generation allocates anew each time it shrinks), and a hot key finds its core.
//
// Where threads share the map, its words lie in a table of C++ (src/lock_table.h), and a core is what this
// thread has of a key: it is idle when this thread has no part in it, whatever others do.
const { checkKey, fromText, nameOf, toText } = require('./keys.js')
const native = require('./load.js')
const { tableOf, unshare } = require('./shares.js')

const mostIdle = 256
/** Cores at rest, for any key of their kind to take. */
const mostAtRest = 1024

class Home {
  #all = new Map()
  #atRest
  #make
  #mostIdle
  /** Cores that have been idle since the last sweep, each once. */
  #idle = []

  /** `make()` makes a core where none is `atRest`; a map with a name has a table of words. */
  constructor(atRest, make, name, table, most = mostIdle) {
    this.#atRest = atRest
    this.#make = make
    this.#mostIdle = most
    this.name = name
    this.table = table
    /** What watches it, if anything. */
    this.watch = undefined
  }

  /** The cores of keys that are busy, in this thread. */
  busy() {
    return Array.from(this.#all.values()).filter((core) => !core.isIdle())
  }

  get size() {
    if (this.table !== undefined) return native.busyCount(this.table)
    let idle = 0
    for (const core of this.#idle) if (core.isIdle()) idle++
    return this.#all.size - idle
  }

  /** The core of a key that is busy in this thread, or undefined. */
  find(key) {
    checkKey(key)
    const core = this.#all.get(key)
    return core === undefined || core.isIdle() ? undefined : core
  }

  /** The core of any key. Whoever does not go in with it must let it drop. */
  open(key) {
    const known = this.#all.get(key)
    if (known !== undefined && this.isThere(known)) return known
    checkKey(key)
    const core = this.table === undefined ? (this.#atRest.pop() ?? this.#make()) : this.#make()
    moveIn(core, this, key)
    this.#all.set(key, core)
    return core
  }

  /** Whether `core` is good for its key still: see HostHome. */
  isThere(_core) {
    return true
  }

  /** What `use` makes of the core of a key that is busy, in whatever thread; else `otherwise`. */
  look(key, use, otherwise) {
    if (this.table !== undefined) return this.with(key, use)
    const core = this.find(key)
    return core === undefined ? otherwise : use(core)
  }

  /** The keys that are busy, in whatever thread. */
  keys() {
    if (this.table !== undefined) return native.busyKeys(this.table).map(fromText)
    return this.busy().map((core) => core.key)
  }

  /** What there is to see of each key that is busy. */
  snapshot() {
    return this.keys().map((key) => this.with(key, (core) => ({ key, ...core.snapshot() })))
  }

  /** `core` has become idle. */
  drop(core) {
    if (core.isListed) return
    core.isListed = true
    this.#idle.push(core)
    if (this.#idle.length === this.#mostIdle) this.sweep()
  }

  /** Idle cores leave their keys. */
  sweep() {
    // A new Map is cheaper than taking most of the keys out of one.
    const isFresh = this.#all.size <= 2 * this.#mostIdle
    const all = isFresh ? new Map() : this.#all
    if (isFresh) {
      for (const [key, core] of this.#all) if (!core.isIdle()) all.set(key, core)
    }
    for (const core of this.#idle) {
      core.isListed = false
      if (!core.isIdle()) continue
      if (!isFresh && all.get(core.key) === core) all.delete(core.key)
      if (core.share !== null) {
        // A releaser may know it still: it is not for another key. And it is not to go twice, though it may
        // have been in the middle of a release that tells of its rest once more.
        core.isListed = true
        unshare(core.share)
        continue
      }
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
    let result
    try {
      result = use(core)
    } catch (error) {
      core.pins--
      core.rest()
      throw error
    }
    core.pins--
    // Not where it is held: at the end of the stack a call may throw, and the result would be lost.
    if (core.words !== null || core.word === core.idle) core.rest()
    return result
  }
}

function moveIn(core, home, key) {
  core.home = home
  core.key = key
  core.isListed = false
  core.pins = 0
  if (home.table !== undefined) core.shareByKey(home.table, toText(key))
}

const shared = new Map()

/** The home of all maps of this thread with that name, and the same `traits`: it stays. */
function homeByName(name, kind, traits, make) {
  const table = tableOf(
    `keyed ${kind} ${toText(name)}`,
    make().idle,
    `the keyed ${kind} ${nameOf(name)}`,
  )
  const id = `${kind} ${traits} ${name}`
  let home = shared.get(id)
  if (home === undefined) {
    home = new Home([], make, name, table)
    shared.set(id, home)
  }
  return home
}

module.exports = { Home, homeByName }
