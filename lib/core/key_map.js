'use strict'
// The busy keys of a keyed map. A key has a lock while it is held or waited for. A lock that has become idle stays
// with its key until `mostIdle` of them have come together, and then all that are idle still go at once: taking one
// out of a Map for each release would cost more than the lock (a Map in the old generation allocates anew each time
// it shrinks), and a hot key finds its lock.
const { checkKey } = require('./keys.js')
const { IdlePromise } = require('./lock.js')
const { checkStack } = require('./stack.js')

const mostIdle = 256
/** Locks at rest, for any key of their kind to take. */
const mostAtRest = 1024

class KeyMap {
  #all = new Map()
  #atRest
  #make
  #mostIdle
  /** What callers of onIdle() wait for. */
  #idlePromise = null
  /** Locks that have been idle since the last sweep, each once. */
  #idle = []

  /** `make()` makes a lock where none is `atRest`. */
  constructor(atRest, make, name, most = mostIdle) {
    this.#atRest = atRest
    this.#make = make
    this.#mostIdle = most
    this.name = name
    /** What watches it, if anything. */
    this.watch = undefined
  }

  /** The locks of keys that are busy, in this thread. */
  busy() {
    return Array.from(this.#all.values()).filter((lock) => !lock.isIdle())
  }

  get size() {
    let idle = 0
    for (const lock of this.#idle) if (lock.isIdle()) idle++
    return this.#all.size - idle
  }

  /** The lock of a key that is busy in this thread, or undefined. */
  find(key) {
    checkKey(key)
    const lock = this.#all.get(key)
    return lock === undefined || lock.isIdle() ? undefined : lock
  }

  /** The lock of any key. A caller that does not go in with it must let it rest. */
  open(key) {
    const known = this.#all.get(key)
    if (known !== undefined && this.isThere(known)) return known
    checkKey(key)
    const lock = this.#atRest.pop() ?? this.#make()
    lock.idleListener = this
    lock.key = key
    lock.isListed = false
    lock.pins = 0
    this.moveIn(lock)
    this.#all.set(key, lock)
    return lock
  }

  /** Whether `lock` is good for its key still: see HostKeyMap. */
  isThere(_lock) {
    return true
  }

  /** `lock` has its key now. */
  moveIn() {}

  /** `lock` is of no key any more. Whether it may be another key's. */
  moveOut(lock) {
    lock.idleListener = null
    lock.key = undefined
    return true
  }

  /** What `use` makes of the lock of a key that is busy, in whatever thread; else `otherwise`. */
  look(key, use, otherwise) {
    const lock = this.find(key)
    return lock === undefined ? otherwise : use(lock)
  }

  /** The keys that are busy, in whatever thread. */
  keys() {
    return this.busy().map((lock) => lock.key)
  }

  /** What there is to see of each key that is busy. */
  snapshot() {
    return this.keys().map((key) => this.with(key, (lock) => ({ key, ...lock.snapshot() })))
  }

  isBusy() {
    for (const lock of this.#all.values()) if (!lock.isIdle()) return true
    return false
  }

  /** A promise for the moment when no key is busy in this thread. */
  onIdle() {
    if (!this.isBusy()) return Promise.resolve()
    this.#idlePromise ??= new IdlePromise()
    return this.#idlePromise.promise
  }

  /** `lock` has become idle. */
  drop(lock) {
    lock.generation++
    if (this.#idlePromise !== null && !this.isBusy()) {
      this.#idlePromise.resolve()
      this.#idlePromise = null
    }
    if (lock.isListed) return
    lock.isListed = true
    this.#idle.push(lock)
    if (this.#idle.length === this.#mostIdle) this.sweep()
  }

  /** Idle locks leave their keys. */
  sweep() {
    // A new Map is cheaper than taking most of the keys out of one.
    const isFresh = this.#all.size <= 2 * this.#mostIdle
    const all = isFresh ? new Map() : this.#all
    if (isFresh) {
      for (const [key, lock] of this.#all) if (!lock.isIdle()) all.set(key, lock)
    }
    for (const lock of this.#idle) {
      lock.isListed = false
      if (!lock.isIdle()) continue
      if (!isFresh && all.get(lock.key) === lock) all.delete(lock.key)
      if (this.moveOut(lock) && this.#atRest.length < mostAtRest) this.#atRest.push(lock)
    }
    this.#all = all
    this.#idle = []
  }

  /** What `use` makes of the lock of `key`, which may end without going in. */
  with(key, use) {
    checkStack()
    const lock = this.open(key)
    // Options may have getters, and they may use this very map: the lock must stay with its key.
    lock.pins++
    try {
      return use(lock)
    } finally {
      lock.pins--
      lock.rest()
    }
  }
}

module.exports = { KeyMap }
