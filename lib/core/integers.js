'use strict'

/** Throws unless `value`, an argument that messages call `what`, is an integer from `least` to `most`. */
function checkInteger(what, value, least, most) {
  if (typeof value !== 'number') throw new TypeError(`${what} must be a number`)
  if (!(Number.isInteger(value) && value >= least && value <= most)) {
    throw new RangeError(`${what} must be an integer from ${least} to ${most}, not ${value}`)
  }
}

module.exports = { checkInteger }
