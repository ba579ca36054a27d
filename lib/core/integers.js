'use strict'
const { checkType } = require('./errors.js')

/** Throws unless `value`, an argument that messages call `what`, is an integer from `least` to `most`. */
function checkInteger(what, value, least, most) {
  checkType(what, value, 'number')
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${what} must be an integer from ${least} to ${most}, not ${value}`)
  }
}

module.exports = { checkInteger }
