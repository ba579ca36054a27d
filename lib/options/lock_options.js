'use strict'
// Reads constructor options: how the lock behaves, and whether it belongs to this thread only.
const platform = require('../core/platform.js')
const { checkType, lockError, typeError } = require('../core/errors.js')
const { asOptions, checkKnown, checkMaxPending, checkTimeout } = require('../core/options.js')

/** Options that scopes.js reads: the threads and processes that share the lock, and its diagnostics. */
const reachOptions = [
  'name',
  'buffer',
  'byteOffset',
  'shared',
  'scope',
  'directory',
  'capacity',
  'engine',
  'diagnostics',
  'warnAfter',
  'maxHold',
  'minHold',
]

/** Options of every lock's constructor, also those that some scopes reject with a reason. */
const lockOptions = new Set(['fairness', 'allowBlockingMainThread', ...reachOptions])

/** Options of a lock that callers acquire, with defaults for all waits. */
const lockOptionsWithDefaults = new Set([...lockOptions, 'cancelError', 'timeout', 'maxPending'])

/**
 * Reads the options `given`. `bytes` is the size of the lock in a `buffer`, or 0 for keyed locks, which take none. In
 * the result `scopes` is undefined for a lock of this thread without diagnostics.
 */
function readLockOptions(given, bytes, known) {
  const options = asOptions(given)
  checkKnown(options, known)
  const { cancelError, fairness = 'bounded', allowBlockingMainThread = false } = options
  const { reentrant = false } = options
  checkType('allowBlockingMainThread', allowBlockingMainThread, 'boolean')
  if (fairness !== 'bounded' && fairness !== 'fifo') {
    throw typeError("fairness must be 'bounded' or 'fifo'", fairness)
  }
  checkType('reentrant', reentrant, 'boolean')
  if (reentrant && platform.reentrantKind === undefined) throw unsupported({ reentrant })
  const settings = {
    cancelError,
    defaults: readDefaults(options),
    isStrict: fairness === 'fifo',
    isReentrant: reentrant,
    mayBlock: allowBlockingMainThread,
    scopes: undefined,
  }
  const asked = readReach(options)
  if (asked === undefined && !platform.isWatched) return settings
  if (platform.scopes === undefined) throw unsupported(asked)
  const scopes = platform.scopes()
  return { ...settings, ...scopes.readOptions(asked ?? {}, bytes, settings), scopes }
}

/** Returns the defaults of all waits. Undefined if there are none. */
function readDefaults({ timeout, maxPending }) {
  if (timeout === undefined && maxPending === undefined) return undefined
  if (timeout !== undefined) checkTimeout(timeout)
  if (maxPending !== undefined) checkMaxPending(maxPending)
  return { timeout, maxPending }
}

/** Returns the options of wider scopes and of diagnostics, each read once. Undefined if there are none. */
function readReach(options) {
  let asked
  for (const name of reachOptions) {
    const value = options[name]
    if (value === undefined || (value === false && isOff(name))) continue
    asked ??= { __proto__: null }
    asked[name] = value
  }
  return asked
}

/**
 * Whether `false` for that option equals leaving it out. It does not if it turns off diagnostics that are on by
 * default.
 */
function isOff(name) {
  const { isWatched, scopes } = platform
  return !isWatched && (scopes === undefined || name === 'shared' || name === 'diagnostics')
}

function unsupported(asked) {
  const names = Object.keys(asked).join(', ')
  const message = `not available in boxoffice/local, whose locks are of one thread: ${names}. In Node.js import 'boxoffice'`
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

module.exports = { lockOptions, lockOptionsWithDefaults, readLockOptions }
