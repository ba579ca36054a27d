'use strict'
// Reads the constructor options that say which threads or processes share the lock, and its diagnostics.
const { checkType, kindError, lockError } = require('../core/errors.js')
const { checkTime } = require('../core/hold_times.js')
const { isSharedArrayBuffer } = require('../core/builtins.js').util.types
const { readDiagnostics } = require('../diagnostics/levels.js')

const { BYTES_PER_ELEMENT } = Int32Array

/** The shortest maxHold. */
const leastHold = 100

/**
 * Reads the options of scopes and diagnostics. `bytes` is the size of the lock in a `buffer`, or 0 for keyed locks,
 * which take none. `mayBlock` is the setting from `allowBlockingMainThread`.
 */
function readReachOptions(options, bytes, { mayBlock }) {
  const { name, buffer, byteOffset = 0, shared, scope, directory, capacity, engine } = options
  const { diagnostics, warnAfter, maxHold, minHold } = options
  if (shared !== undefined) checkType('shared', shared, 'boolean')
  if (name !== undefined) checkName(name)
  const reach = { scope, name, buffer, shared, directory, capacity }
  let host
  if (engine !== undefined) checkBesideEngine(reach)
  else if (scope !== undefined || directory !== undefined || capacity !== undefined) {
    host = require('../host/options.js').readHost(reach, bytes === 0)
  }
  if (bytes === 0 && (buffer !== undefined || (shared && name === undefined))) {
    throw new TypeError(
      'a keyed lock is shared by its name: give it { name }, the same in each thread, and neither buffer nor shared',
    )
  }
  if (buffer !== undefined) checkPlace(buffer, byteOffset, bytes)
  else if (options.byteOffset !== undefined)
    throw new TypeError('byteOffset is for a lock with a buffer')
  if (name !== undefined && buffer !== undefined) {
    throw new TypeError('a lock is shared by its name or by a buffer, not by both')
  }
  const hasTimes = maxHold !== undefined || minHold !== undefined
  return {
    scope,
    host,
    name,
    buffer,
    byteOffset,
    isShared: shared === true,
    engine,
    diagnostics: readDiagnostics(diagnostics, warnAfter),
    times: hasTimes
      ? readHoldTimes(options, engine !== undefined || host !== undefined)
      : undefined,
    // Over an engine no call can block, and the lock's own error says so.
    mayBlock: mayBlock || engine !== undefined,
  }
}

/**
 * Returns { maxHold, minHold }, each undefined if not given. `isWide` tells whether other processes can use the lock.
 */
function readHoldTimes({ maxHold, minHold }, isWide) {
  if (maxHold !== undefined) checkTime('maxHold', maxHold, leastHold, true)
  if (minHold !== undefined) checkTime('minHold', minHold, 0)
  if (minHold > maxHold) {
    throw new RangeError(`minHold must not be more than maxHold, which is ${maxHold} ms`)
  }
  if (!isWide) {
    throw lockError(
      'ERR_LOCK_UNSUPPORTED',
      "maxHold and minHold are for locks of several processes: give the lock scope 'host' and a name, or an engine",
    )
  }
  return { maxHold: maxHold && Math.floor(maxHold), minHold: minHold && Math.floor(minHold) }
}

function checkName(name) {
  checkType('name', name, 'string')
  if (name === '') throw new RangeError('name must not be empty')
}

/** Throws for options of other scopes: beside an engine only a `name` is allowed. */
function checkBesideEngine({ name: _, ...others }) {
  for (const [option, value] of Object.entries(others)) {
    if (value !== undefined)
      throw new TypeError(`a lock over an engine takes no ${option}: leave it out`)
  }
}

function checkPlace(buffer, byteOffset, bytes) {
  if (!isSharedArrayBuffer(buffer)) throw kindError('buffer must be a SharedArrayBuffer', buffer)
  checkType('byteOffset', byteOffset, 'number')
  const last = buffer.byteLength - bytes
  if (last < 0) throw new RangeError(`buffer must have room for ${bytes} bytes`)
  // Written so that NaN and fractions fail, too.
  if (!(byteOffset >= 0 && byteOffset <= last && byteOffset % BYTES_PER_ELEMENT === 0)) {
    throw new RangeError(
      `byteOffset must be a multiple of ${BYTES_PER_ELEMENT} from 0 to ${last - (last % BYTES_PER_ELEMENT)}`,
    )
  }
}

module.exports = { readReachOptions }
