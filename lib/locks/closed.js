'use strict'
// Closed objects: methods that acquire reject before they read their options. All other methods still reach the lock,
// for its holders and waiters.
//
// close() changes the object's kind. Methods compare kinds anyway, so a lock that is never closed pays nothing
// (docs/decisions/closing.md).
const { lockError } = require('../core/errors.js')
const { observed } = require('../core/platform.js')

/** Stands in for a closed lock, and rejects its callers. `observer` may be null. */
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

  /** Returns the error for a call of `method` with `args`, and reports the call to diagnostics. */
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
/** The methods that limit() and map() of a semaphore call. */
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

/** The methods that acquire or wait. */
const entrances = new Set([
  ...waits,
  ...blocks,
  ...tries,
  'executeLocked',
  'runSharedSync',
  'waitForUnlock',
])

/**
 * Returns the kind of a closed object of `kind`. `lockFor(method)` returns the lock that the method uses.
 */
const closedKind = (kind, lockFor) => ({ class: kind.class, base: kind, lockFor })

/** Returns the kind of a closed single lock. */
function closedSingle(kind, lock) {
  const refusal = new Refusal(kind, lock.title(), lock.observer)
  // Code inside a callback that holds a recursive mutex may still enter it again.
  const isRefused = (method) => entrances.has(method) && !lock.isHeld?.()
  return closedKind(kind, (method) => (isRefused(method) ? refusal : lock))
}

module.exports = { closedKind, closedSingle, entrances, Refusal }
