'use strict'
// defaults.js for semaphores, whose waits have the arguments (weight, options) or (options).
const { put, withDefaults } = require('./defaults.js')

/**
 * The arguments of a wait, completed by `defaults`. Returns one object for both, or the weight if there are no valid
 * options.
 */
function unitsWithDefaults(weight, options, defaults) {
  if (weight !== undefined && typeof weight !== 'number') return withDefaults(weight, defaults)
  const limits = withDefaults(options, defaults)
  if (limits === null || typeof limits !== 'object') return weight
  if (limits === options || 'weight' in limits) return weight
  const both = options === undefined ? { ...limits } : limits
  put(both, 'weight', weight)
  return both
}

const acquiringUnits = (defaults, weight, options) =>
  defaults === undefined ? weight : unitsWithDefaults(weight, options, defaults.acquiring)
const waitingUnits = (defaults, weight, options) =>
  defaults === undefined ? weight : unitsWithDefaults(weight, options, defaults.waiting)

module.exports = { acquiringUnits, waitingUnits }
