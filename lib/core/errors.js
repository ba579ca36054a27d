'use strict'
// The library's errors, by `code`. The first three are async-mutex's constants and are compared by
// identity.

function lockError(code, message, Kind = Error) {
  const error = new Kind(message)
  error.code = code
  return error
}

/** By the tag and the code, so that errors of other realms count. */
function isLockError(error) {
  if (Object.prototype.toString.call(error) !== '[object Error]') return false
  return typeof error.code === 'string' && error.code.startsWith('ERR_LOCK_')
}

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
  isLockError,
  lockError,
  lostError,
}
