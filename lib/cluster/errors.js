'use strict'
// What goes wrong with engines.
const { lockError } = require('../core/errors.js')
const { reasonOf } = require('./thread_errors.js')

function causedError(code, message, cause) {
  const error = lockError(code, message)
  if (cause !== undefined) error.cause = cause
  return error
}

/** `what` is the lock. */
function engineError(name, what, time, cause) {
  const why = cause === undefined ? '; is the server there?' : `: ${reasonOf(cause)}`
  const message = `${name} has not answered for ${what} within ${time} ms${why}`
  return causedError('ERR_LOCK_ENGINE', message, cause)
}

function closedError(name) {
  return lockError('ERR_LOCK_ENGINE', `the engine for ${name} has been closed: make another one`)
}

/** `why` the lease is over; `cause` is the error behind it, if there is one. */
function lostError(what, why, cause) {
  const message = `${what} has been lost: ${why}. Others may hold it: stop, and write nothing without its fencing token`
  return causedError('ERR_LOCK_LOST', message, cause)
}

function mismatchError(what, capacity) {
  const message = `${what} is in use with the value ${capacity}: construct it alike everywhere`
  return lockError('ERR_LOCK_MISMATCH', message)
}

/** Other errors have a `code`, too: those of the web have a number. */
const isOurs = ({ code }) => typeof code === 'string' && code.startsWith('ERR_LOCK_')

module.exports = { causedError, closedError, engineError, isOurs, lostError, mismatchError }
