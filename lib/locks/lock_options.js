'use strict'
// Reads constructor options: how the lock behaves, and whether it is one of this thread.
const platform = require('../core/platform.js')
const { lockError } = require('../core/errors.js')
const { readDefaults } = require('./defaults.js')
const { asOptions, checkKnown } = require('../core/options.js')

/** Options that lib/scopes.js reads: the threads and processes that share the lock, and its diagnostics. */
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

/** Options of every lock's constructor, including those that some scopes refuse with a reason. */
const lockOptions = new Set(['cancelError', 'fairness', 'allowBlockingMainThread', ...reachOptions])

/** The same, plus defaults for all waits. */
const lockOptionsWithDefaults = new Set([...lockOptions, 'timeout', 'maxPending'])

/**
 * `bytes` is the memory that the lock needs; 0 for keyed maps, which cannot use the user's memory. In the result `scopes`
 * is undefined for a lock of this thread without diagnostics.
 */
function readLockOptions(given, bytes, known = lockOptions) {
  const options = asOptions(given)
  checkKnown(options, known)
  const { cancelError, fairness = 'bounded', allowBlockingMainThread = false } = options
  if (typeof allowBlockingMainThread !== 'boolean') {
    throw new TypeError('allowBlockingMainThread must be a boolean')
  }
  if (fairness !== 'bounded' && fairness !== 'fifo') {
    throw new TypeError("fairness must be 'bounded' or 'fifo'")
  }
  const settings = {
    cancelError,
    defaults: readDefaults(options),
    isStrict: fairness === 'fifo',
    mayBlock: allowBlockingMainThread,
    scopes: undefined,
  }
  const asked = readReach(options)
  if (asked === undefined && !platform.isWatched) return settings
  if (platform.scopes === undefined) throw unsupported(asked)
  const scopes = platform.scopes()
  return { ...settings, ...scopes.readOptions(asked ?? {}, bytes, settings), scopes }
}

/** The options that say more than a lock of this thread needs, each read once. Undefined without any. */
function readReach(options) {
  const { name, buffer, byteOffset, shared, scope, directory } = options
  const { capacity, engine, diagnostics, warnAfter, maxHold, minHold, reentrant } = options
  const isPlain =
    name === undefined &&
    buffer === undefined &&
    byteOffset === undefined &&
    shared === undefined &&
    scope === undefined &&
    directory === undefined &&
    capacity === undefined &&
    engine === undefined &&
    diagnostics === undefined &&
    warnAfter === undefined &&
    maxHold === undefined &&
    minHold === undefined &&
    reentrant === undefined
  if (isPlain) return undefined
  const reach = { name, buffer, byteOffset, shared, scope, directory }
  return { ...reach, capacity, engine, diagnostics, warnAfter, maxHold, minHold, reentrant }
}

function unsupported(asked) {
  const names = Object.keys(asked)
    .filter((name) => asked[name] !== undefined)
    .join(', ')
  const message = `not available in boxoffice/local, whose locks are of one thread: ${names}. In Node.js import 'boxoffice'`
  return lockError('ERR_LOCK_UNSUPPORTED', message)
}

module.exports = { lockOptions, lockOptionsWithDefaults, readLockOptions }
