'use strict'
// Reads constructor options: which threads or processes share the lock, and how it behaves.
const { isSharedArrayBuffer } = require('../core/builtins.js').util.types
const { readDiagnostics } = require('../diagnostics/levels.js')
const { readDefaults } = require('./defaults.js')
const { asOptions, checkKnown } = require('../core/options.js')

const { BYTES_PER_ELEMENT } = Int32Array

/** Options of every lock's constructor, including those that some scopes refuse with a reason. */
const lockOptions = new Set([
  'cancelError',
  'name',
  'buffer',
  'byteOffset',
  'shared',
  'fairness',
  'allowBlockingMainThread',
  'scope',
  'directory',
  'capacity',
  'engine',
  'diagnostics',
  'warnAfter',
  'maxHold',
  'minHold',
])

/** The same, plus defaults for all waits. */
const lockOptionsWithDefaults = new Set([...lockOptions, 'timeout', 'maxPending'])

/**
 * `bytes` is the memory that the lock needs; 0 for keyed maps, which cannot use the user's memory.
 */
function readLockOptions(given, bytes, known = lockOptions) {
  const options = asOptions(given)
  checkKnown(options, known)
  const {
    cancelError,
    name,
    buffer,
    byteOffset = 0,
    fairness = 'bounded',
    allowBlockingMainThread = false,
    shared,
    scope,
    directory,
    capacity,
    engine,
    diagnostics,
    warnAfter,
    maxHold,
    minHold,
    reentrant = false,
  } = options
  if (typeof allowBlockingMainThread !== 'boolean') {
    throw new TypeError('allowBlockingMainThread must be a boolean')
  }
  if (fairness !== 'bounded' && fairness !== 'fifo') {
    throw new TypeError("fairness must be 'bounded' or 'fifo'")
  }
  if (shared !== undefined && typeof shared !== 'boolean')
    throw new TypeError('shared must be a boolean')
  if (typeof reentrant !== 'boolean') throw new TypeError('reentrant must be a boolean')
  if (name !== undefined) checkName(name)
  const reach = { scope, name, buffer, shared, directory, capacity }
  let host
  if (engine !== undefined) checkBesideEngine(reach)
  else if (scope !== undefined || directory !== undefined || capacity !== undefined) {
    host = require('../host/options.js').readHost(reach, bytes === 0)
  }
  if (shared && bytes === 0 && name === undefined) {
    throw new TypeError('a keyed map has no buffer: share it by a name')
  }
  if (buffer !== undefined) checkPlace(buffer, byteOffset, bytes)
  if (name !== undefined && buffer !== undefined) {
    throw new TypeError('a lock is shared by its name or by a buffer, not by both')
  }
  const hasTimes = maxHold !== undefined || minHold !== undefined
  return {
    cancelError,
    scope,
    host,
    name,
    buffer,
    byteOffset,
    isShared: shared === true,
    engine,
    diagnostics: readDiagnostics(diagnostics, warnAfter),
    defaults: readDefaults(options),
    times: hasTimes ? readTimes(options, engine !== undefined || host !== undefined) : undefined,
    isStrict: fairness === 'fifo',
    isReentrant: reentrant,
    // Over an engine no call can block; its locks report that themselves.
    mayBlock: allowBlockingMainThread || engine !== undefined,
  }
}

/** Loaded when the first lock uses it. */
const readTimes = (options, isWide) =>
  require('../core/hold_times.js').readHoldTimes(options, isWide)

function checkName(name) {
  if (typeof name !== 'string') throw new TypeError('name must be a string')
  if (name === '') throw new RangeError('name must not be empty')
}

/** Throws for options that contradict an engine, which alone defines the scope. */
function checkBesideEngine({ name: _, ...others }) {
  for (const [option, value] of Object.entries(others)) {
    if (value !== undefined) throw new TypeError(`a lock over an engine takes no ${option}`)
  }
}

function checkPlace(buffer, byteOffset, bytes) {
  if (bytes === 0) throw new TypeError('a keyed map has no buffer: share it by a name')
  if (!isSharedArrayBuffer(buffer)) throw new TypeError('buffer must be a SharedArrayBuffer')
  if (typeof byteOffset !== 'number') throw new TypeError('byteOffset must be a number')
  const last = buffer.byteLength - bytes
  if (last < 0) throw new RangeError(`buffer must have room for ${bytes} bytes`)
  // This form rejects NaN and fractions as well.
  if (!(byteOffset >= 0 && byteOffset <= last && byteOffset % BYTES_PER_ELEMENT === 0)) {
    throw new RangeError(
      `byteOffset must be a multiple of ${BYTES_PER_ELEMENT} from 0 to ${last - (last % BYTES_PER_ELEMENT)}`,
    )
  }
}

module.exports = { lockOptions, lockOptionsWithDefaults, readLockOptions }
