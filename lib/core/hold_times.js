'use strict'
// The options `maxHold`, the longest time of a hold, and `minHold`, the shortest time for which a hold excludes others.
const { lockError } = require('./errors.js')
const { titleOf } = require('./keys.js')
const { checkMilliseconds, longestTimeout } = require('./options.js')

/** Throws unless `time` is from `least` ms to the longest timeout, or Infinity if `mayBeForEver`. */
function checkTime(name, time, least, mayBeForEver = false) {
  checkMilliseconds(name, time)
  if (time >= least && (time <= longestTimeout || (mayBeForEver && time === Infinity))) return
  const orEver = mayBeForEver ? ', or Infinity' : ''
  throw new RangeError(`${name} must be from ${least} ms to 2 ** 31 - 1 ms${orEver}, not ${time}`)
}

/**
 * Throws unless `times` equal the `known` times, of this thread's earlier objects of the same lock. `unset` is the
 * maxHold of a lock without that option; over an engine it is not Infinity.
 */
function checkAlike(known, times, { kind, name }, unset = Infinity) {
  const isAlike = (known?.minHold ?? 0) === (times?.minHold ?? 0)
  if (isAlike && (known?.maxHold ?? unset) === (times?.maxHold ?? unset)) return
  throw lockError(
    'ERR_LOCK_MISMATCH',
    `${titleOf(kind, { name, keyMap: null })} exists with another maxHold or minHold: construct it alike everywhere`,
  )
}

module.exports = { checkAlike, checkTime }
