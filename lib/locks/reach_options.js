'use strict'
// Reads the constructor options that say which threads or processes share the lock, and its diagnostics.
const { checkType, kindError, typeError } = require('../core/errors.js')
const { isSharedArrayBuffer } = require('../core/builtins.js').util.types
const { readDiagnostics } = require('../diagnostics/levels.js')

const { BYTES_PER_ELEMENT } = Int32Array

/**
 * `bytes` is the memory that the lock needs; 0 for keyed maps, which cannot use the user's memory. `mayBlock` is what
 * the other options say.
 */
function readReachOptions(options, bytes, { mayBlock }) {
  const { name, buffer, byteOffset = 0, shared, scope, directory, capacity, engine } = options
  const { diagnostics, warnAfter, maxHold, minHold } = options
  if (shared !== undefined && typeof shared !== 'boolean')
    throw typeError('shared must be a boolean', shared)
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
    times: hasTimes ? readTimes(options, engine !== undefined || host !== undefined) : undefined,
    // Over an engine no call can block; its locks report that themselves.
    mayBlock: mayBlock || engine !== undefined,
  }
}

/** Loaded when the first lock uses it. */
const readTimes = (options, isWide) =>
  require('../core/hold_times.js').readHoldTimes(options, isWide)

function checkName(name) {
  if (typeof name !== 'string') throw typeError('name must be a string', name)
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
  if (!isSharedArrayBuffer(buffer)) throw kindError('buffer must be a SharedArrayBuffer', buffer)
  checkType('byteOffset', byteOffset, 'number')
  const last = buffer.byteLength - bytes
  if (last < 0) throw new RangeError(`buffer must have room for ${bytes} bytes`)
  // This form rejects NaN and fractions as well.
  if (!(byteOffset >= 0 && byteOffset <= last && byteOffset % BYTES_PER_ELEMENT === 0)) {
    throw new RangeError(
      `byteOffset must be a multiple of ${BYTES_PER_ELEMENT} from 0 to ${last - (last % BYTES_PER_ELEMENT)}`,
    )
  }
}

module.exports = { readReachOptions }
