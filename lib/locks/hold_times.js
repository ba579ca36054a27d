'use strict'
// How long one hold of a lock lasts: `maxHold` at most, and for others `minHold` at least.
const { lockError } = require('../core/errors.js')
const { longestTimeout } = require('../core/options.js')

const leastHold = 100

/** { maxHold, minHold }, each undefined where it is not given. `isWide`: the lock reaches further than its process. */
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
  return { maxHold, minHold: minHold && Math.floor(minHold) }
}

function check(name, time, least, most) {
  if (typeof time !== 'number') throw new TypeError(`${name} must be a number of milliseconds`)
  if (time >= least && (time <= longestTimeout || time === most)) return
  const orEver = most === Infinity ? ', or Infinity' : ''
  throw new RangeError(`${name} must be from ${least} ms to 2 ** 31 - 1 ms${orEver}, not ${time}`)
}

const exclusive = new Set(['mutex', 'recursive mutex'])

/** Throws where locks of the kind of that name cannot have these `times`. */
function checkHoldTimes({ minHold }, kindName) {
  if (minHold === undefined || exclusive.has(kindName)) return
  const message = `a ${kindName} has no minHold: use a Mutex, a RecursiveMutex or a KeyedMutex`
  throw lockError('ERR_LOCK_UNSUPPORTED', message)
}

/** The same at scope host, where the holds of mutexes only have timers. */
function checkHostTimes(times, kindName, isStrict) {
  if (times === undefined) return
  if (kindName === 'mutex' || (kindName === 'recursive mutex' && times.maxHold === undefined)) {
    if (!isStrict) return
    throw lockError(
      'ERR_LOCK_UNSUPPORTED',
      "fairness: 'fifo' is not for a lock of scope 'host' with maxHold or minHold: give it an engine",
    )
  }
  const what = kindName === 'recursive mutex' ? 'maxHold' : 'maxHold and no minHold'
  throw lockError(
    'ERR_LOCK_UNSUPPORTED',
    `a ${kindName} of scope 'host' has no ${what}: use a Mutex or a KeyedMutex, or give it an engine`,
  )
}

module.exports = { checkHoldTimes, checkHostTimes, readHoldTimes }
