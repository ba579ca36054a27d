'use strict'
// Errors of a constructor whose lock C++ does not find, or finds with another value.
const { lockError } = require('../core/errors.js')

/** The argument of a constructor whose lock begins with it. C++ tells a negative one without its sign. */
const asGiven = { name: 'the value', of: (start) => start | 0 }

/** `argument` of the constructor decides with which word its lock begins: { name, of(word) }. */
function otherStartError(title, found, start, argument = asGiven) {
  const values = `${argument.name} ${argument.of(found)}, not ${argument.of(start)}`
  const message = `${title} exists with ${values}: construct it alike everywhere, or give it another name`
  return lockError('ERR_LOCK_MISMATCH', message)
}

/**
 * The error for `error`, which C++ has thrown and which does not name the lock. `argument` is null for a lock in the user's
 * memory, where another kind of lock may have begun.
 */
function constructionError(error, title, start, argument) {
  if (error.found !== undefined && argument !== null)
    return otherStartError(title, error.found, start, argument)
  error.message = `${title}: ${error.message}`
  return error
}

module.exports = { constructionError, otherStartError }
