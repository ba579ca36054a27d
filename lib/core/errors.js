'use strict'
// The library's errors, by `code`. The first three are async-mutex's constants and are compared by
// identity.

function lockError(code, message, Kind = Error) {
  const error = new Kind(message)
  error.code = code
  return error
}

/** Tells an error by its tag, so that errors of other realms count. */
function isError(value) {
  return Object.prototype.toString.call(value) === '[object Error]'
}

/** Whether `error` is an error of this package, and has the `code` if one is given. */
function isLockError(error, code) {
  if (!isError(error)) return false
  if (typeof error.code !== 'string' || !error.code.startsWith('ERR_LOCK_')) return false
  return code === undefined || error.code === code
}

const E_TIMEOUT = lockError(
  'ERR_LOCK_TIMEOUT',
  'timeout while waiting for mutex to become available',
)
const E_ALREADY_LOCKED = lockError('ERR_LOCK_ALREADY_LOCKED', 'mutex already locked')
const E_CANCELED = lockError('ERR_LOCK_CANCELED', 'request for lock canceled')

module.exports = {
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  isError,
  isLockError,
  lockError,
}
