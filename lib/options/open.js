'use strict'
// Makes the lock that a constructor's options describe: of this thread, or by scopes.js.
//
// A kind of lock is { class, base, name, bytes, known, local, extend, isGate, over }. `known` are the names of its own
// options, if it has any. `local(...args)` makes a lock of this thread; a keyed map reuses those `atRest`. `extend(Class)`
// derives the same from a lock that several threads share. `isGate`: an event, a latch, a barrier or a condition,
// which no thread holds.
const { readLockOptions } = require('./lock_options.js')

/** The lock of `kind` that `options` describe, wrapped by the kind's `over` if it has one. */
function openLock(kind, args, options) {
  const settings = readLockOptions(options, kind.bytes, kind.known)
  const { cancelError, defaults, mayBlock, scopes } = settings
  const lock =
    scopes === undefined
      ? kind.local(...args).configured(settings)
      : scopes.openLock(kind, args, settings)
  return { lock: kind.over === undefined ? lock : kind.over(lock), cancelError, defaults, mayBlock }
}

module.exports = { openLock }
