'use strict'
// What an object stands for after close(): callers that come are refused, whatever of their options. All other methods go
// on with the lock itself, for callers that hold it or wait for it.
//
// close() gives the object another kind. Methods compare their kind with that of the object in any case: a lock that is
// never closed pays nothing (docs/decisions/closing.md).
const { lockError } = require('../core/errors.js')
const { checkKey, titleOf } = require('../core/keys.js')

/** Refuses callers of one lock. `observer` may be null. */
class Refusal {
  #kind
  #title
  #observer

  constructor({ name }, title, observer) {
    this.#kind = name
    this.#title = title
    this.#observer = observer
  }

  error() {
    const message = `${this.#title} has been closed: construct another one to acquire it again`
    return lockError('ERR_LOCK_CLOSED', message)
  }

  /** The same of a wait, by `method` with `args`, which diagnostics tell of. */
  ofWait(method, args) {
    const error = this.error()
    if (this.#observer !== null) {
      const isShared = method.startsWith('acquireRead')
      const mode = isShared ? 'shared' : 'exclusive'
      if (this.#kind === 'semaphore') this.#observer.refused(undefined, weightOf(args), error)
      else this.#observer.refused(mode, 1, error)
    }
    return error
  }

  waitForUnlock() {
    return Promise.reject(this.error())
  }
}

/** Of what a method of a semaphore takes: [callback,] weight or options. */
function weightOf(args) {
  const [given = 1] = args.filter((arg) => typeof arg !== 'function')
  return typeof given === 'number' ? given : (given?.weight ?? 1)
}

const waits = ['acquire', 'lock', 'runExclusive', 'acquireRead', 'acquireWrite']
for (const method of waits) {
  Refusal.prototype[method] = function (...args) {
    return Promise.reject(this.ofWait(method, args))
  }
}
const blocks = [
  'acquireSync',
  'lockSync',
  'runExclusiveSync',
  'acquireReadSync',
  'acquireWriteSync',
]
for (const method of blocks) {
  Refusal.prototype[method] = function (...args) {
    throw this.ofWait(method, args)
  }
}
const tries = ['tryAcquire', 'tryLock', 'tryAcquireRead', 'tryAcquireWrite']
for (const method of tries) {
  Refusal.prototype[method] = function () {
    throw this.error()
  }
}

/** The methods of the classes that are for callers to come in. */
const entrances = new Set([
  ...waits,
  ...blocks,
  ...tries,
  'executeLocked',
  'runShared',
  'runSharedSync',
  'waitForUnlock',
])

/** That of an object of `kind` that has been closed; `lockFor(method)` is what the method is to use. */
const closedKind = (kind, lockFor) => ({ class: kind.class, base: kind, lockFor })

/** That of a single lock. */
function closedSingle(kind, lock) {
  const refusal = new Refusal(kind, lock.title(), lock.observer)
  // A recursive mutex: a callback that holds it may enter it again.
  const isRefused = (method) => entrances.has(method) && !lock.isHeld?.()
  return closedKind(kind, (method) => (isRefused(method) ? refusal : lock))
}

/** That of a keyed map. */
function closedKeyed(kind, map) {
  const closed = new ClosedKeyMap(kind, map)
  return closedKind(kind, (method) => (entrances.has(method) ? closed : map))
}

/** What methods find in place of the keyed map. */
class ClosedKeyMap {
  watch = undefined
  #kind
  #map

  constructor(kind, map) {
    this.#kind = kind
    this.#map = map
  }

  open(key) {
    checkKey(key)
    const lock = { key, keyMap: this.#map, share: null, observer: null }
    this.#map.watch?.watches(lock)
    return new Refusal(this.#kind, titleOf(this.#kind.name, lock), lock.observer)
  }

  with(key, use) {
    return use(this.open(key))
  }

  find() {
    return undefined
  }
}

module.exports = { closedKeyed, closedSingle }
