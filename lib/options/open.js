'use strict'
// Makes the lock that a constructor's options describe: a lock of this thread, or one of a wider scope by scopes.js.
//
// A kind of lock is { class, base, name, bytes, known, local, isGate, isUnranked, over }. `known` has the names of the
// kind's own options, if it has any. `local(...args)` makes a lock of this thread; keyed maps keep idle ones in `atRest`
// and reuse them. `isGate` marks an event, a latch, a barrier or a condition variable, which no thread holds.
// `isUnranked` marks one that admits all waiters together, so that they have no priority. `over(lock)` wraps the lock.
// lib/locks/base.js describes `lockFor` and `closedFor`.
const { readLockOptions } = require('./lock_options.js')

/** Makes the lock of `kind` that `options` describe. Returns it with the settings of its object. */
function openLock(kind, args, options) {
  const settings = readLockOptions(options, kind.bytes, kind.known)
  const { scopes } = settings
  const lock =
    scopes === undefined
      ? kind.local(...args).configured(settings)
      : scopes.openLock(kind, args, settings)
  return { lock: kind.over === undefined ? lock : kind.over(lock), settings }
}

module.exports = { openLock }
