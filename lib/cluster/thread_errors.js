'use strict'
// Errors on their way between threads: structured clone drops their codes, and the errors of an AggregateError.

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

module.exports = { pack, reasonOf, unpack }
