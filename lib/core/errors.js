'use strict'
// What goes wrong, by `code`. The first three are async-mutex's, compared by identity.

function lockError(code, message, Kind = Error) {
  const error = new Kind(message)
  error.code = code
  return error
}

const E_TIMEOUT = lockError(
  'ERR_LOCK_TIMEOUT',
  'timeout while waiting for mutex to become available',
)
const E_ALREADY_LOCKED = lockError('ERR_LOCK_ALREADY_LOCKED', 'mutex already locked')
const E_CANCELED = lockError('ERR_LOCK_CANCELED', 'request for lock canceled')

module.exports = { E_TIMEOUT, E_ALREADY_LOCKED, E_CANCELED, lockError }
