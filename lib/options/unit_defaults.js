'use strict'
// As defaults.js, for semaphores: their waits take (weight, options) or (options).
const { isObject } = require('../core/options.js')
const { isWhole } = require('../core/units.js')
const { withDefaults } = require('./defaults.js')

/**
 * Completes the arguments of a wait by `defaults`. Returns one object with the weight and the options, or only the
 * weight if the options are not valid.
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
