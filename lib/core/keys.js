'use strict'
// The keys of keyed maps: strings, numbers and bigints, kept apart.

function checkKey(key) {
  const type = typeof key
  if (type !== 'string' && type !== 'number' && type !== 'bigint') {
    throw new TypeError(`a key must be a string, a number or a bigint, not ${describe(key)}`)
  }
  if (Number.isNaN(key)) throw new RangeError('a key must not be NaN')
}

function describe(value) {
  return value === null ? 'null' : typeof value
}

/** The key as error messages show it: the string '1' is not the number 1. */
function nameOf(key) {
  return typeof key === 'string' ? JSON.stringify(key) : String(key)
}

/** The name of a lock in error messages. */
function titleOf(kind, { name, key, keyMap }) {
  if (keyMap === null) return name === undefined ? `the ${kind}` : `the ${kind} ${nameOf(name)}`
  const map = keyMap.name === undefined ? '' : ` in ${nameOf(keyMap.name)}`
  return `the ${kind} of key ${nameOf(key)}${map}`
}

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

module.exports = { checkKey, fromText, nameOf, titleOf, toText }
