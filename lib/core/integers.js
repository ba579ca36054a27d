'use strict'
const { checkType } = require('./errors.js')

/** Throws unless `value` is an integer from `least` to `most`. The message calls the value `what`. */
function checkInteger(what, value, least, most) {
  checkType(what, value, 'number')
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${what} must be an integer from ${least} to ${most}, not ${value}`)
  }
}

module.exports = { checkInteger }
