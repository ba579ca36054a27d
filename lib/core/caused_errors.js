'use strict'
// Errors with a `cause`, for locks of the scopes host and cluster.
const { lockError } = require('./errors.js')

function causedError(code, message, cause) {
  const error = lockError(code, message)
  if (cause !== undefined) error.cause = cause
  return error
}

/**
 * Returns the error for a grant that ended before its holder released it. `why` says how it ended, `cause` is the
 * underlying error.
 */
function lostError(what, why, cause) {
  const message = `${what} has been lost: ${why}. Another holder may have it: stop, and write nothing without its fencing token`
  return causedError('ERR_LOCK_LOST', message, cause)
}

module.exports = { causedError, lostError }
