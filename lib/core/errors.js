'use strict'
// The library's errors, by `code`. The first three are async-mutex's constants and are compared by
// identity.

function lockError(code, message, Kind = Error) {
  const error = new Kind(message)
  error.code = code
  return error
}

/** Returns whether `value` is an Error of any realm, which it tells by its tag. */
function isError(value) {
  return Object.prototype.toString.call(value) === '[object Error]'
}

/** Returns whether `error` is an error of this package, and has `code` if that is given. */
function isLockError(error, code) {
  if (!isError(error)) return false
  if (typeof error.code !== 'string' || !error.code.startsWith('ERR_LOCK_')) return false
  return code === undefined || error.code === code
}

const mostShown = 50

/** Returns the text that stands for a wrong value in a message. */
function shown(value) {
  if (typeof value !== 'string') return kindOf(value)
  return JSON.stringify(value.length > mostShown ? `${value.slice(0, mostShown)}…` : value)
}

function kindOf(value) {
  if (typeof value === 'string' || typeof value === 'function') return `a ${typeof value}`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    const [, kind] = /^\[object (\w{1,50})\]$/.exec(Object.prototype.toString.call(value))
    if (kind !== 'Object') return kind
  } catch {
    // The tag is not a string, or reading it throws: a getter, or a revoked proxy.
  }
  return 'an object'
}

/** The error for a caller's wrong `value`. `rule` says what the value must be, and `hint` what to do. */
const typeError = (rule, value, hint = '') => new TypeError(`${rule}, not ${shown(value)}${hint}`)

/** As typeError(), but shows only the kind of `value`: a string in place of a client may contain a password. */
const kindError = (rule, value) => new TypeError(`${rule}, not ${kindOf(value)}`)

/** Throws unless `typeof value` is `type`. The message calls the value `what`, and `of` follows the type in it. */
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
