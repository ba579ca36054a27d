'use strict'
// Keyed mutexes with `reentrant: true`: the chain of calls that holds a key may enter it again by the methods with a
// callback, as in lib/core/recursive.js for one mutex. Other methods would wait for their own chain, and reject.
const { lockError } = require('../core/errors.js')
const { acquireOptions, readWait } = require('../core/options.js')
const { begin, Recursive } = require('../core/recursive.js')
const { context, contexts } = require('../core/recursive_hold.js')
const { defineLazy, makeReleaser, undelivered } = require('../core/releaser.js')
const { run, runSync } = require('../core/run.js')
const { acquireOneOrMany, acquireSyncOneOrMany } = require('./many.js')

/**
 * The recursive mutex of a lock of a key map, with the methods that KeyedMutex calls. All objects that share the map
 * share its holds.
 */
class KeyRecursive extends Recursive {
  /** Pins the lock to its key for the wait, because the outer hold may end just after it has admitted the caller. */
  async enterFrom(around, limits) {
    const { outer } = this
    outer.pins++
    try {
      return await super.enterFrom(around, limits)
    } finally {
      outer.pins--
      outer.reportIdle()
    }
  }

  acquire(limits) {
    return this.#waits((lock) => lock.acquire(limits))
  }

  lock(limits) {
    return this.#waits((lock) => lock.lock(limits))
  }

  waitForUnlock(limits) {
    return this.#waits((lock) => lock.waitForUnlock(limits))
  }

  /** Returns wait(lock), unless this chain of calls holds the key. */
  #waits(wait) {
    const { outer } = this
    if (!this.isHeld()) return wait(outer)
    const message = `${outer.title()} is held by this chain of calls, which would wait for itself: enter it again by runExclusive()`
    return Promise.reject(lockError('ERR_LOCK_DEADLOCK', message))
  }
}

/** Ends `hold` before its callback has begun. If its grant reports a death, the next grant reports it instead. */
function closeUndelivered(hold) {
  const { mutex, holds, grant, parent } = hold
  const lock = mutex.outer
  const isHeld = parent === null && lock.grant() === grant
  const giveBack = isHeld
    ? lock.releaser(grant, lock.grantOf(grant).abandoned)[undelivered]
    : undefined
  if (giveBack === undefined) {
    hold.close()
    return
  }
  hold.leave()
  if (holds.outermost === hold) holds.outermost = null
  giveBack()
}

/** Makes a releaser of `hold` with the properties of its grant. With `isWithin` the releaser does not end the hold. */
function releaserOf(recursive, hold, isWithin = false) {
  const told = recursive.told(hold)
  const release = makeReleaser(() => {
    if (!isWithin) hold.close()
  }, told.abandoned)
  release[undelivered] = () => {
    if (!isWithin) closeUndelivered(hold)
  }
  for (const name of ['fencingToken', 'signal']) {
    const { get, value } = Object.getOwnPropertyDescriptor(told, name) ?? {}
    if (get !== undefined || value !== undefined) defineLazy(release, name, () => told[name])
  }
  return release
}

/** The key map of reentrant objects, for the methods that enter a key or wait for it. */
class ReentrantKeyMap {
  #map

  constructor(map) {
    this.#map = map
    this.name = map.name
    this.hasTokensByKey = map.hasTokensByKey
    this.afterStart = map.afterStart?.bind(map)
  }

  /** Read at each use: another object of the same name may add it later. */
  get watch() {
    return this.#map.watch
  }

  find(key) {
    return this.#map.find(key)
  }

  open(key) {
    return new KeyRecursive(this.#map.open(key))
  }

  with(key, use) {
    return this.#map.with(key, (lock) => use(new KeyRecursive(lock)))
  }

  /** Throws if a derived class overrides acquire(), because no method with a callback would call it. */
  checkAcquire(isOwn) {
    if (isOwn) return
    throw new TypeError(
      'a KeyedMutex with { reentrant: true } calls no acquire() of a derived class: override runExclusive() instead',
    )
  }

  /** Runs `callback` under several keys, some of which this chain may hold already. */
  runExclusive(keys, callback, options) {
    let inner = context()
    const enter = async (lock, limits) => {
      const recursive = new KeyRecursive(lock)
      const hold = await recursive.enterFrom(inner, readWait(limits, acquireOptions))
      if (hold === undefined) return undefined
      inner = hold
      return releaserOf(recursive, hold)
    }
    return run(
      (release) => contexts().run(inner, begin, callback, release),
      () => acquireOneOrMany(this.#map, keys, options, enter),
    )
  }

  /** As runExclusive(), for one key or several, and blocks this thread. */
  runExclusiveSync(key, callback, limits) {
    let inner = context()
    const enter = (lock, left) => {
      const recursive = new KeyRecursive(lock)
      if (recursive.isOnStack()) return releaserOf(recursive, recursive.holds.outermost, true)
      const hold = recursive.enterSync(inner, left)
      inner = hold
      return releaserOf(recursive, hold)
    }
    return runSync(
      (release) => contexts().run(inner, callback, release),
      () => acquireSyncOneOrMany(this.#map, key, limits, enter),
    )
  }
}

/** Whether this chain of calls holds `key`, or each key of a list that is not empty. */
function isInside(map, key) {
  const keys = [key].flat()
  const isHeld = (one) => {
    const lock = map.find(one)
    return lock !== undefined && new KeyRecursive(lock).isHeld()
  }
  return keys.length > 0 && keys.every(isHeld)
}

/** The map for cancel() and cancelAll(), which also reject the callers inside a hold. */
const cancelling = (map) => ({
  find(key) {
    const lock = map.find(key)
    return lock === undefined ? undefined : new KeyRecursive(lock)
  },
  busy: () => map.busy().map((lock) => new KeyRecursive(lock)),
})

const waits = new Set(['acquire', 'lock', 'waitForUnlock'])
const forms = new Set(['runExclusive', 'runExclusiveSync'])
const cancels = new Set(['cancel', 'cancelAll'])

/** Returns the kind of a reentrant object of `kind`: see base.js. */
function reentrantKind(kind, map) {
  const reentrant = new ReentrantKeyMap(map)
  const cancel = cancelling(map)
  return {
    ...kind,
    base: kind,
    lockFor(method) {
      if (cancels.has(method)) return cancel
      return waits.has(method) || forms.has(method) ? reentrant : map
    },
    /** Code inside a callback that holds a closed key may still enter it again. */
    closedFor: (method, closed, _, key) =>
      forms.has(method) && isInside(map, key) ? reentrant : closed,
  }
}

module.exports = { reentrantKind }
