'use strict'
// The units of a semaphore: what callers give for a weight and a value, checked.
const { checkObject, readSyncWait, readWait, weightedOptions } = require('./options.js')

const maxValue = 2 ** 29 - 1
const minValue = -(2 ** 29)

/** (weight, priority), (weight, options) or (options). */
function readAcquire(weightOrOptions = 1, priorityOrOptions = undefined) {
  if (typeof weightOrOptions !== 'number') {
    checkObject(weightOrOptions)
    const limits = readWait(weightOrOptions, weightedOptions)
    const { weight = 1 } = weightOrOptions
    checkWeight(weight)
    return { weight, limits }
  }
  checkWeight(weightOrOptions)
  return { weight: weightOrOptions, limits: readWait(priorityOrOptions) }
}

function readAcquireSync(weightOrOptions = 1, options = undefined) {
  if (typeof weightOrOptions === 'number') {
    checkWeight(weightOrOptions)
    return { weight: weightOrOptions, limits: readSyncWait(options) }
  }
  const limits = readSyncWait(weightOrOptions, weightedOptions)
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

module.exports = { checkedValue, checkWeight, maxValue, readAcquire, readAcquireSync }
