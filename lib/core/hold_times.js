'use strict'
// The options `maxHold`, the longest time of a hold, and `minHold`, the least time for which a hold excludes others.
const { checkType, lockError } = require('./errors.js')
const { titleOf } = require('./keys.js')
const { longestTimeout } = require('./options.js')

const leastHold = 100

/** { maxHold, minHold }, each undefined if not given. `isWide`: other processes can use the lock. */
function readHoldTimes({ maxHold, minHold }, isWide) {
  if (maxHold !== undefined) check('maxHold', maxHold, leastHold, Infinity)
  if (minHold !== undefined) check('minHold', minHold, 0, longestTimeout)
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

function check(name, time, least, most) {
  checkType(name, time, 'number', ' of milliseconds')
  if (time >= least && (time <= longestTimeout || time === most)) return
  const orEver = most === Infinity ? ', or Infinity' : ''
  throw new RangeError(`${name} must be from ${least} ms to 2 ** 31 - 1 ms${orEver}, not ${time}`)
}

const exclusive = new Set(['mutex', 'recursive mutex'])

/** Throws if locks of kind `kindName` over an engine cannot have these `times`. */
function checkEngineTimes({ minHold }, kindName) {
  if (minHold === undefined || exclusive.has(kindName)) return
  const message = `a ${kindName} over an engine has no minHold: use a Mutex, a RecursiveMutex or a KeyedMutex, or scope 'host'`
  throw lockError('ERR_LOCK_UNSUPPORTED', message)
}

/** The same for a mutex of scope host. */
function checkHostTimes(times, isStrict) {
  if (times === undefined || !isStrict) return
  throw lockError(
    'ERR_LOCK_UNSUPPORTED',
    "fairness: 'fifo' is not for a mutex of scope 'host' with maxHold or minHold: give it an engine",
  )
}

/** Throws for a kind of scope host without holders: an event, a latch, a barrier or a condition. */
function refuseHostTimes(kindName) {
  const message = `no ${kindName} has a maxHold or a minHold: no caller holds it`
  throw lockError('ERR_LOCK_UNSUPPORTED', message)
}

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

module.exports = { checkAlike, checkEngineTimes, checkHostTimes, readHoldTimes, refuseHostTimes }
