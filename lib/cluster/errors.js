'use strict'
// What goes wrong with engines.
const { lockError } = require('../core/errors.js')
const { reasonOf } = require('./thread_errors.js')

/** `what` is the lock. */
function engineError(name, what, time, cause) {
  const why = cause === undefined ? '; is the server there?' : `: ${reasonOf(cause)}`
  const message = `${name} has not answered for ${what} within ${time} ms${why}`
  const error = lockError('ERR_LOCK_ENGINE', message)
  if (cause !== undefined) error.cause = cause
  return error
}

function closedError(name) {
  return lockError('ERR_LOCK_ENGINE', `the engine for ${name} has been closed: make another one`)
}

/** `why` the lease is over; `cause` is the error behind it, if there is one. */
function lostError(what, why, cause) {
  const message = `${what} has been lost: ${why}. Others may hold it: stop, and write nothing without its fencing token`
  const error = lockError('ERR_LOCK_LOST', message)
  if (cause !== undefined) error.cause = cause
  return error
}

function mismatchError(what, capacity) {
  const message = `${what} is in use with the value ${capacity}: construct it alike everywhere`
  return lockError('ERR_LOCK_MISMATCH', message)
}

/** For what cannot be answered without asking the server. */
function notSync(method, instead) {
  throw new TypeError(`${method}() cannot wait for the answer of an engine: use ${instead}`)
}

module.exports = { closedError, engineError, lostError, mismatchError, notSync }
