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

const mostShown = 50

/** A wrong value in a message. */
function shown(value) {
  if (typeof value !== 'string') return kindOf(value)
  return JSON.stringify(value.length > mostShown ? `${value.slice(0, mostShown)}…` : value)
}

function kindOf(value) {
  if (typeof value === 'string' || typeof value === 'function') return `a ${typeof value}`
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    const [, kind] = /^\[object (\w{1,50})\]$/.exec(Object.prototype.toString.call(value))
    if (kind !== 'Object') return kind
  } catch {
    // The tag is no name, or cannot be read: a getter throws, or a proxy has been revoked.
  }
  return 'an object'
}

/** `rule` says what a `value` must be that a caller has given, and `hint` what to do. */
const typeError = (rule, value, hint = '') => new TypeError(`${rule}, not ${shown(value)}${hint}`)

/** Does not show the value where an object is missing: a string in place of a client may have a password in it. */
const kindError = (rule, value) => new TypeError(`${rule}, not ${kindOf(value)}`)

/** Throws unless `value`, which messages call `what`, is of `type`, such as a number ` of keys`. */
function checkType(what, value, type, of = '') {
  if (typeof value !== type) throw typeError(`${what} must be a ${type}${of}`, value)
}

const E_TIMEOUT = lockError(
  'ERR_LOCK_TIMEOUT',
  'timeout while waiting for mutex to become available',
)
const E_ALREADY_LOCKED = lockError('ERR_LOCK_ALREADY_LOCKED', 'mutex already locked')
const E_CANCELED = lockError('ERR_LOCK_CANCELED', 'request for lock canceled')

module.exports = {
  checkType,
  E_ALREADY_LOCKED,
  E_CANCELED,
  E_TIMEOUT,
  isError,
  isLockError,
  kindError,
  lockError,
  typeError,
}
