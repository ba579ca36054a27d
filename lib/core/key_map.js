'use strict'
// The busy keys of a keyed map: a key has a lock while it is held or waited for. A lock that becomes idle stays with
// its key until `mostIdle` locks have become idle. Then a sweep removes all that still are. Deleting a key at each
// release would cost more than the lock, because a Map in the old generation allocates anew each time it shrinks. And a
// hot key finds its lock again.
const { checkKey } = require('./keys.js')
const { IdlePromise, LocalLock } = require('./lock.js')
const platform = require('./platform.js')
const { checkStack } = require('./stack.js')

const mostIdle = 256
/** The most idle locks kept for reuse by any key of their kind. */
const mostAtRest = 1024

class KeyMap {
  scope = 'thread'
  #all = new Map()
  #atRest
  #make
  #mostIdle
  /** Locks that became idle since the last sweep, each once. */
  #idle = []

  /** `make()` creates a lock when `atRest` has none. */
  constructor(atRest, make, name, most = mostIdle) {
    this.#atRest = atRest
    this.#make = make
    this.#mostIdle = most
    this.name = name
    /** The promise of onIdle(), while it waits. */
    this.idleListener = null
    /** While it waits: every lock that has callers, and perhaps some that no longer have any. */
    this.awaited = null
    /** The map's observer, if it has diagnostics. */
    this.watch = undefined
    /** Whether no object and no key uses the map any more. Its observer may still refer to it. */
    this.isGone = false
  }

  /** The locks of this thread, idle ones included. */
  locks() {
    return this.#all.values()
  }

  /** The locks of the keys that are busy in this thread. */
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
    checkKey(key, this)
    const lock = this.#all.get(key)
    return lock === undefined || lock.isIdle() ? undefined : lock
  }

  /**
   * Returns the lock of `key`, and makes it if need be. A caller that does not enter the lock must call its
   * reportIdle().
   */
  open(key) {
    const known = this.#all.get(key)
    if (known !== undefined && this.isThere(known)) {
      if (this.idleListener !== null) this.awaited.add(known)
      return known
    }
    checkKey(key, this)
    // If the caller failed to enter the new lock, no sweep would ever find that idle lock.
    checkStack()
    const lock = this.#atRest.pop() ?? this.#make()
    lock.idleListener = this
    lock.key = key
    lock.isListed = false
    lock.pins = 0
    this.moveIn(lock)
    this.#all.set(key, lock)
    if (this.idleListener !== null) this.awaited.add(lock)
    return lock
  }

  /** Whether `lock` is still the lock of its key: see HostKeyMap. */
  isThere(_lock) {
    return true
  }

  /** Called when `lock` gets a key. */
  moveIn() {}

  /** Called when `lock` loses its key. Returns whether another key may reuse it. */
  moveOut(lock) {
    lock.idleListener = null
    lock.key = undefined
    return true
  }

  /** Returns use(lock) for a key that is busy in any thread, and `otherwise` for other keys. */
  look(key, use, otherwise) {
    const lock = this.find(key)
    return lock === undefined ? otherwise : use(lock)
  }

  /** The keys that are busy in any thread. */
  keys() {
    return this.busy().map((lock) => lock.key)
  }

  /** One snapshot for each busy key. */
  snapshot() {
    return this.keys().map((key) => this.with(key, (lock) => ({ key, ...lock.snapshot() })))
  }

  /** Resolves when no key is busy in this thread. */
  onIdle() {
    if (this.idleListener === null) {
      this.awaited = new Set(this.#all.values())
      this.idleListener = new IdlePromise()
    }
    platform.trackWaits(this)
    const { promise } = this.idleListener
    this.reportIdle()
    return promise
  }

  /** Resolves the promise of onIdle() if no key is busy any more. */
  reportIdle() {
    if (this.idleListener !== null && !this.#isAwaited()) this.idleListener.drop(this)
  }

  /**
   * Returns whether an awaited lock has callers. Drops the locks in front of it, which have none: open() adds them
   * again when they are used.
   */
  #isAwaited() {
    for (const lock of this.awaited) {
      if (lock.hasCallers()) return true
      this.awaited.delete(lock)
    }
    return false
  }

  /** Called when `lock` becomes idle. */
  drop(lock) {
    lock.generation++
    if (this.idleListener !== null) this.reportIdle()
    if (lock.isListed) return
    lock.isListed = true
    this.#idle.push(lock)
    if (this.#idle.length >= this.#mostIdle) this.sweep()
  }

  /** Keeps the map as long as `user`, an object of this thread, is alive. */
  keepFor(_user) {}

  /** Removes all locks from their keys if all have been idle. Returns whether the map is empty. */
  clear() {
    if (this.#idle.length >= this.#all.size) this.sweep()
    return this.#all.size === 0
  }

  sweep() {
    // Copying the few busy keys to a new Map is cheaper than deleting most keys.
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

  /** Returns use(lock) for the lock of `key`. `use` need not enter the lock. */
  with(key, use) {
    checkStack()
    const lock = this.open(key)
    // Getters of options may use this map meanwhile: the pin keeps the lock with its key.
    lock.pins++
    try {
      return use(lock)
    } finally {
      lock.pins--
      lock.reportIdle()
    }
  }
}

/**
 * Makes a key map of one thread for locks of `kind` that begin with `value`. `watch` is the map's observer, if it has
 * one.
 */
function localKeyMap(kind, value, { mayBlock }, watch) {
  const own = { mayBlock }
  const make = () => kind.local(value).configured(own)
  if (watch !== undefined) {
    const map = new KeyMap([], () => watch.watches(make()))
    watch.over(map)
    return map
  }
  // Other maps must not reuse a lock that has settings of its own.
  const isUsual = mayBlock === LocalLock.prototype.mayBlock
  return new KeyMap((isUsual && kind.atRest) || [], make)
}

module.exports = { KeyMap, localKeyMap }
