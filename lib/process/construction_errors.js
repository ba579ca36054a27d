'use strict'
// Errors of a constructor for which C++ cannot open the lock, or finds it with another value.
const { lockError } = require('../core/errors.js')

/**
 * Describes the constructor's argument of a lock whose word begins with that argument. C++ reports words as unsigned.
 */
const asGiven = { name: 'the value', of: (start) => start | 0 }

/**
 * Returns the error for a lock that begins with the word `found`, not `start`. `argument`, { name, of(word) },
 * describes the constructor's argument that decides the word.
 */
function otherStartError(title, found, start, argument = asGiven) {
  const values = `${argument.name} ${argument.of(found)}, not ${argument.of(start)}`
  const message = `${title} exists with ${values}: construct it alike everywhere, or give it another name`
  return lockError('ERR_LOCK_MISMATCH', message)
}

/**
 * Adds the lock's name to `error`, which C++ has thrown, or makes the error for another initial value. `argument` is
 * null for a lock in a caller's buffer, where the word may belong to another kind of lock.
 */
function constructionError(error, title, start, argument) {
  if (error.found !== undefined && argument !== null)
    return otherStartError(title, error.found, start, argument)
  error.message = `${title}: ${error.message}`
  return error
}

module.exports = { constructionError, otherStartError }
