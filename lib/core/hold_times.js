'use strict'
// The options `maxHold`, the longest time of a hold, and `minHold`, the least time for which a hold excludes others.
const { lockError } = require('./errors.js')
const { titleOf } = require('./keys.js')

/**
 * Throws unless this thread's other objects of the same lock have the same `times`. `unset` is the maxHold of a lock that has
 * none: over an engine that is another one than Infinity.
 */
function checkAlike(known, times, { kind, name }, unset = Infinity) {
  const isAlike = (known?.minHold ?? 0) === (times?.minHold ?? 0)
  if (isAlike && (known?.maxHold ?? unset) === (times?.maxHold ?? unset)) return
  throw lockError(
    'ERR_LOCK_MISMATCH',
    `${titleOf(kind, { name, keyMap: null })} exists with another maxHold or minHold: construct it alike everywhere`,
  )
}

module.exports = { checkAlike }
