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

/** The recursive mutex of a lock of a key map. All objects that share the map share its holds. */
class KeyRecursive extends Recursive {
  /** Pins the lock to its key for the wait, because the outer hold may end just after it has admitted the caller. */
  async enterFrom(around, limits) {
    const { lock } = this
    lock.pins++
    try {
      return await super.enterFrom(around, limits)
    } finally {
      lock.pins--
      lock.reportIdle()
    }
  }
}

const recursiveOf = (lock) => new KeyRecursive(lock)

/** Whether this chain of calls holds the key of `lock`. */
function isInside(lock) {
  const recursive = recursiveOf(lock)
  return recursive.isOnStack() || recursive.holdIn(context()) !== null
}

/** Ends `hold` before its callback has begun. If its grant reports a death, the next grant reports it instead. */
function closeUndelivered(hold) {
  const { mutex, holds, grant, parent } = hold
  const { lock } = mutex
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

class ReentrantKeyMap {
  #map

  constructor(map) {
    this.#map = map
  }

  get watch() {
    return this.#map.watch
  }

  get hasTokensByKey() {
    return this.#map.hasTokensByKey
  }

  find(key) {
    return this.#map.find(key)
  }

  open(key) {
    return new ReentrantKey(this.#map, key)
  }

  with(key, use) {
    return use(this.open(key))
  }

  isHeld(key) {
    const lock = this.#map.find(key)
    return lock !== undefined && isInside(lock)
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
      const recursive = recursiveOf(lock)
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
      const recursive = recursiveOf(lock)
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

/** The lock of one key, with the methods that KeyedMutex calls. */
class ReentrantKey {
  #map
  #key

  constructor(map, key) {
    this.#map = map
    this.#key = key
  }

  runExclusive(callback, limits) {
    return this.#map.with(this.#key, (lock) => recursiveOf(lock).runExclusive(callback, limits))
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

  #waits(wait) {
    return this.#map.with(this.#key, (lock) => {
      if (!isInside(lock)) return wait(lock)
      const message = `${lock.title()} is held by this chain of calls, which would wait for itself: enter it again by runExclusive()`
      return Promise.reject(lockError('ERR_LOCK_DEADLOCK', message))
    })
  }
}

/** The map of a closed object: a chain that holds a key may still enter it again. */
class ClosedReentrantKeyMap extends ReentrantKeyMap {
  #closed

  constructor(map, closed) {
    super(map)
    this.#closed = closed
  }

  open(key) {
    return this.isHeld(key) ? super.open(key) : this.#closed.open(key)
  }

  #isHeldAll(keys) {
    return keys.length > 0 && keys.every((key) => this.isHeld(key))
  }

  async runExclusive(keys, callback, options) {
    if (this.#isHeldAll(keys)) return super.runExclusive(keys, callback, options)
    return acquireOneOrMany(this.#closed, keys, options, (lock) => lock.acquire())
  }

  runExclusiveSync(key, callback, limits) {
    if (this.#isHeldAll([key].flat())) return super.runExclusiveSync(key, callback, limits)
    return acquireSyncOneOrMany(this.#closed, key, limits, (lock) => lock.acquireSync())
  }
}

/** The map for cancel() and cancelAll(), which also reject the callers inside a hold. */
const cancelling = (map) => ({
  find(key) {
    const lock = map.find(key)
    return lock === undefined ? undefined : recursiveOf(lock)
  },
  busy: () => map.busy().map(recursiveOf),
})

const waits = new Set(['acquire', 'lock', 'waitForUnlock'])
const forms = new Set(['runExclusive', 'runExclusiveSync'])
const cancels = new Set(['cancel', 'cancelAll'])

/** Returns the kind of a reentrant object of `kind`: see closed.js. */
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
    closedFor(method, closed) {
      return forms.has(method) ? new ClosedReentrantKeyMap(map, closed) : closed
    },
  }
}

module.exports = { reentrantKind }
