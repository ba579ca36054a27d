'use strict'
// What goes wrong with engines.
const { causedError, lockError } = require('../core/errors.js')

/** The errors of servers that have not answered: a later attempt may find one back. */
const unanswered = new WeakSet()

const isUnanswered = (error) => unanswered.has(error)

/** `what` is the lock. */
function engineError(name, what, time, cause) {
  const why = cause === undefined ? '; is the server there?' : `: ${reasonOf(cause)}`
  const message = `${name} has not answered for ${what} within ${time} ms${why}`
  const error = causedError('ERR_LOCK_ENGINE', message, cause)
  unanswered.add(error)
  return error
}

function closedError(name) {
  return lockError('ERR_LOCK_ENGINE', `the engine for ${name} has been closed: make another one`)
}

function mismatchError(what, capacity) {
  const message = `${what} is in use with the value ${capacity}: construct it alike everywhere`
  return lockError('ERR_LOCK_MISMATCH', message)
}

/** Other errors have a `code`, too: those of the web have a number. */
const isOurs = ({ code }) => typeof code === 'string' && code.startsWith('ERR_LOCK_')

// On their way between threads: structured clone drops their codes, and the errors of an AggregateError.

/** Why, in words: the error of a connection to several addresses has a message in each of its errors only. */
function reasonOf(error) {
  return error.message || error.errors?.map(reasonOf).join('; ') || `${error.code ?? error}`
}

function pack(error) {
  if (!(error instanceof Error)) return { message: `${error}` }
  const { name, code, stack, cause } = error
  return { message: reasonOf(error), name, code, stack, cause: cause && pack(cause) }
}

function unpack({ message, cause, ...words }) {
  const error = new Error(message, cause && { cause: unpack(cause) })
  for (const [name, value] of Object.entries(words)) {
    if (value !== undefined)
      Object.defineProperty(error, name, {
        value,
        configurable: true,
        writable: true,
        enumerable: name === 'code',
      })
  }
  return error
}

module.exports = {
  closedError,
  engineError,
  isOurs,
  isUnanswered,
  mismatchError,
  pack,
  reasonOf,
  unpack,
}
