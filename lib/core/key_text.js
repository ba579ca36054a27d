'use strict'
// Keys as text, for C++ and for servers.

const letters = { number: 'n', bigint: 'b' }

/**
 * A key for C++, which takes UTF-8. JSON can escape an unpaired surrogate, UTF-8 cannot encode it.
 */
function toText(key) {
  if (typeof key !== 'string') return letters[typeof key] + key
  return key.isWellFormed() ? `s${key}` : `j${JSON.stringify(key)}`
}

const readers = {
  s: (rest) => rest,
  j: (rest) => JSON.parse(rest),
  n: (rest) => Number(rest),
  b: (rest) => BigInt(rest),
}

const fromText = (text) => readers[text[0]](text.slice(1))

module.exports = { fromText, toText }
