'use strict'
// Errors with a cause, of locks that processes and machines share.
const { lockError } = require('./errors.js')

function causedError(code, message, cause) {
  const error = lockError(code, message)
  if (cause !== undefined) error.cause = cause
  return error
}

/**
 * The error of a grant that ended before its holder released it; `why` says how, `cause` is the
 * underlying error.
 */
function lostError(what, why, cause) {
  const message = `${what} has been lost: ${why}. Another holder may have it: stop, and write nothing without its fencing token`
  return causedError('ERR_LOCK_LOST', message, cause)
}

module.exports = { causedError, lostError }
