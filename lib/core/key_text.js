'use strict'
// Keys and names as text, for C++ and for servers.

const letters = { number: 'n', bigint: 'b' }

/**
 * Returns `key` as a text for C++, which takes UTF-8. UTF-8 cannot encode an unpaired surrogate, but JSON can escape
 * it.
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

/** Throws for a name that UTF-8 cannot encode, because several such names would become one lock. */
function checkWellFormed(name) {
  if (!name.isWellFormed()) {
    throw new RangeError('name must be well-formed Unicode: no half of a surrogate pair')
  }
}

module.exports = { checkWellFormed, fromText, toText }
