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

  /** Returns the error for a call of `method` with `args`. Reports a caller that would wait to diagnostics. */
  ofCall(method, args) {
    const error = this.error()
    if (this.#observer !== null && !/^(try|waitFor)/.test(method))
      observed.refusedCall(this.#observer, this.#kind, method, args, error)
    return error
  }
}

/** The methods that acquire or wait. */
const entrances = [
  ...['acquire', 'acquireRead', 'acquireWrite', 'lock', 'waitForUnlock'],
  ...['runExclusive', 'runShared', 'executeLocked'],
  ...['acquireSync', 'acquireReadSync', 'acquireWriteSync', 'lockSync'],
  ...['runExclusiveSync', 'runSharedSync'],
  ...['tryAcquire', 'tryAcquireRead', 'tryAcquireWrite', 'tryLock'],
  // limit() and map() of a semaphore call these of its lock.
  ...['acquireUnits', 'runWithUnits'],
]
for (const method of entrances) {
  const isPromised = !/^try|Sync$/.test(method)
  Refusal.prototype[method] = function (...args) {
    const error = this.ofCall(method, args)
    if (isPromised) return Promise.reject(error)
    throw error
  }
}

/**
 * Returns the kind of a closed object of `kind`: `refusal` stands in for its lock. The `closedFor(method, refusal, lock,
 * key)` of a kind whose callers may enter again decides which callers those are.
 */
function closedKind(kind, refusal) {
  const { lockFor = (_, lock) => lock, closedFor = () => refusal } = kind
  return {
    class: kind.class,
    base: kind,
    isClosed: true,
    lockFor: (method, lock, key) =>
      method in Refusal.prototype ? closedFor(method, refusal, lock, key) : lockFor(method, lock),
  }
}

module.exports = { closedKind, Refusal }
