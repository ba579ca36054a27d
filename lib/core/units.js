'use strict'
// Checks weights and values of semaphores.
const {
  acquireOptions,
  readSyncWait,
  readWait,
  waitOptions,
  weightedAcquireOptions,
  weightedWaitOptions,
} = require('./options.js')

const maxValue = 2 ** 29 - 1
const minValue = -(2 ** 29)

/** Reads (weight, priority), (weight, options) or (options) of a caller that acquires. */
function readAcquire(weight, options) {
  return readUnits(weight, options, weightedAcquireOptions, acquireOptions)
}

/** The same for a caller that only waits for the units. */
function readWatch(weight, options) {
  return readUnits(weight, options, weightedWaitOptions, waitOptions)
}

function readUnits(weightOrOptions = 1, priorityOrOptions, weighted, others) {
  if (typeof weightOrOptions !== 'number') {
    const limits = readWait(weightOrOptions, weighted)
    const { weight = 1 } = weightOrOptions
    checkWeight(weight)
    return { weight, limits }
  }
  checkWeight(weightOrOptions)
  return { weight: weightOrOptions, limits: readWait(priorityOrOptions, others) }
}

function readAcquireSync(weightOrOptions = 1, options = undefined) {
  if (typeof weightOrOptions === 'number') {
    checkWeight(weightOrOptions)
    return { weight: weightOrOptions, limits: readSyncWait(options) }
  }
  const limits = readSyncWait(weightOrOptions, weightedWaitOptions)
  const { weight = 1 } = weightOrOptions
  checkWeight(weight)
  return { weight, limits }
}

function checkWeight(weight) {
  if (typeof weight !== 'number') throw new TypeError('weight must be a number')
  if (weight <= 0) throw new RangeError(`invalid weight ${weight}: must be positive`)
  if (!(Number.isInteger(weight) && weight <= maxValue)) {
    throw new RangeError(`invalid weight ${weight}: must be an integer up to ${maxValue}`)
  }
}

function checkedValue(value) {
  if (typeof value !== 'number') throw new TypeError('value must be a number')
  if (!(Number.isInteger(value) && value >= minValue && value <= maxValue)) {
    throw new RangeError(`value must be an integer from ${minValue} to ${maxValue}, not ${value}`)
  }
  return value
}

module.exports = { checkedValue, checkWeight, maxValue, readAcquire, readAcquireSync, readWatch }
