'use strict'
// Closed objects: new callers are refused before their options are read. All other methods still
// reach the lock, for its holders and waiters.
//
// close() changes the object's kind. Methods compare kinds in any case, so a lock that is never
// closed pays nothing (docs/decisions/closing.md).
const { lockError } = require('../core/errors.js')
const { observed } = require('../core/platform.js')

/** Refuses the callers of a closed lock. `observer` may be null. */
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

  /** Refuses a wait, by `method` with `args`, and reports it to diagnostics. */
  ofWait(method, args) {
    const error = this.error()
    if (this.#observer !== null)
      observed.refusedCall(this.#observer, this.#kind, method, args, error)
    return error
  }

  waitForUnlock() {
    return Promise.reject(this.error())
  }
}

const waits = ['acquire', 'lock', 'runExclusive', 'runShared', 'acquireRead', 'acquireWrite']
/** What limit() and map() of a semaphore call. */
const ofUnits = ['acquireUnits', 'callWithUnits']
for (const method of [...waits, ...ofUnits]) {
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

/** The methods by which new callers enter. */
const entrances = new Set([
  ...waits,
  ...blocks,
  ...tries,
  'executeLocked',
  'runSharedSync',
  'waitForUnlock',
])

/**
 * The kind of a closed object of `kind`; `lockFor(method)` returns the lock that the method uses.
 */
const closedKind = (kind, lockFor) => ({ class: kind.class, base: kind, lockFor })

/** The kind of a closed single lock. */
function closedSingle(kind, lock) {
  const refusal = new Refusal(kind, lock.title(), lock.observer)
  // A recursive mutex: a callback that holds it may still enter again.
  const isRefused = (method) => entrances.has(method) && !lock.isHeld?.()
  return closedKind(kind, (method) => (isRefused(method) ? refusal : lock))
}

module.exports = { closedKind, closedSingle, entrances, Refusal }
