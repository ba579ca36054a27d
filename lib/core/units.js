'use strict'
// Shared by the semaphores of all scopes: reads weights and values, and runs a callback with a ticket.
const { checkType, lockError } = require('./errors.js')
const { checkInteger } = require('./integers.js')
const {
  acquireOptions,
  readSyncWait,
  readWait,
  waitOptions,
  weightedAcquireOptions,
  weightedWaitOptions,
} = require('./options.js')
const platform = require('./platform.js')
const { completed, givenOf, WithDefaults } = require('./wait_defaults.js')

const maxValue = 2 ** 29 - 1
const minValue = -(2 ** 29)

/** Reads the arguments of acquire(): (weight, priority), (weight, options) or (options). */
function readAcquire(weight, options) {
  return readUnits(weight, options, weightedAcquireOptions, acquireOptions)
}

/** Reads the arguments of a caller that waits without acquiring. */
function readWatch(weight, options) {
  return readUnits(weight, options, weightedWaitOptions, waitOptions)
}

/** Reads the arguments of a call that blocks its thread. */
function readAcquireSync(weight, options) {
  return readUnits(weight, options, weightedWaitOptions, waitOptions, readSyncWait)
}

const weightOption = new Set(['weight'])

/** Reads the weight of a caller that does not wait. It has no other option. */
function readWeight(weight, options) {
  return readUnits(weight, options, weightOption)
}

/** Whether `value`, an argument of acquire(), stands in the place of the options and not of the weight. */
const isOptions = (value) => typeof value === 'object' || typeof value === 'function'

function readUnits(weightOrOptions = 1, priorityOrOptions, weighted, others, read = readWait) {
  if (!isOptions(weightOrOptions)) {
    checkWeight(weightOrOptions)
    return { weight: weightOrOptions, limits: read(priorityOrOptions, others) }
  }
  const hasDefaults = priorityOrOptions instanceof WithDefaults
  const asked = hasDefaults
    ? completed(weightOrOptions, priorityOrOptions.defaults)
    : weightOrOptions
  const limits = read(asked, weighted)
  if (givenOf(priorityOrOptions) !== undefined) {
    throw new TypeError('too many arguments: pass the weight in the options, { weight, timeout }')
  }
  const { weight = 1 } = weightOrOptions
  checkWeight(weight)
  return { weight, limits }
}

/** Returns `weight`. Throws if it is not a valid weight. */
function checkWeight(weight) {
  checkType('weight', weight, 'number')
  if (weight <= 0) throw new RangeError(`invalid weight ${weight}: must be positive`)
  if (!(Number.isInteger(weight) && weight <= maxValue)) {
    throw new RangeError(`invalid weight ${weight}: must be an integer up to ${maxValue}`)
  }
  return weight
}

/** Throws if `weight` units more than `value` would exceed the maximum. */
function checkRoom(lock, value, weight) {
  if (value > maxValue - weight) throw roomError(lock)
}

function roomError(lock) {
  const message = `${lock.title()} would pass its maximum of ${maxValue}`
  return lockError('ERR_LOCK_RANGE', message, RangeError)
}

function checkedValue(value) {
  checkInteger('value', value, minValue, maxValue)
  return value
}

/** The semaphores that have already warned. */
const warned = new WeakSet()

/**
 * Warns, once per semaphore, of a caller that waits for more units than the semaphore has. Does not warn for a
 * semaphore that began without units, because a program means to raise it.
 */
function warnOfWeight(lock, weight, whole, { timeout, maxPending }) {
  if (whole < 1 || timeout === 0 || lock.isFull(maxPending) || warned.has(lock)) return
  warned.add(lock)
  platform.warnHere(
    'BOXOFFICE_TOO_MANY_UNITS',
    `a caller waits for ${weight} units of ${lock.title()}, which has ${whole}: only setValue() or release() can raise ` +
      `its value, and later callers wait, too; for a priority: { priority: ${weight} }`,
    'It began to wait',
  )
}

module.exports = {
  checkedValue,
  checkRoom,
  checkWeight,
  isOptions,
  maxValue,
  readAcquire,
  readAcquireSync,
  readWatch,
  readWeight,
  warnOfWeight,
}
