'use strict'
// What goes wrong, by `code`. The first three are async-mutex's, compared by identity.

function lockError(code, message, Kind = Error) {
  const error = new Kind(message)
  error.code = code
  return error
}

function causedError(code, message, cause) {
  const error = lockError(code, message)
  if (cause !== undefined) error.cause = cause
  return error
}

/** Of a grant that is over before its holder has let go: `why`, and the error behind it, if there is one. */
function lostError(what, why, cause) {
  const message = `${what} has been lost: ${why}. Others may hold it: stop, and write nothing without its fencing token`
  return causedError('ERR_LOCK_LOST', message, cause)
}

const E_TIMEOUT = lockError(
  'ERR_LOCK_TIMEOUT',
  'timeout while waiting for mutex to become available',
)
const E_ALREADY_LOCKED = lockError('ERR_LOCK_ALREADY_LOCKED', 'mutex already locked')
const E_CANCELED = lockError('ERR_LOCK_CANCELED', 'request for lock canceled')

module.exports = {
  causedError,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  lockError,
  lostError,
}
