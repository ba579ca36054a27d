'use strict'
// defaults.js for semaphores, whose waits have the arguments (weight, options) or (options).
const { isObject } = require('../core/options.js')
const { isWhole } = require('../core/units.js')
const { withDefaults } = require('./defaults.js')

/**
 * The arguments of a wait, completed by `defaults`. Returns one object for both, or the weight if there are no valid
 * options.
 */
function unitsWithDefaults(weight, options, defaults) {
  if (weight !== undefined && typeof weight !== 'number') return withDefaults(weight, defaults)
  const limits = withDefaults(options, defaults)
  if (!isObject(limits) || limits === options || 'weight' in limits) return weight
  return { ...limits, weight, [isWhole]: true }
}

const acquiringUnits = (defaults, weight, options) =>
  defaults === undefined ? weight : unitsWithDefaults(weight, options, defaults.acquiring)
const waitingUnits = (defaults, weight, options) =>
  defaults === undefined ? weight : unitsWithDefaults(weight, options, defaults.waiting)

module.exports = { acquiringUnits, waitingUnits }
