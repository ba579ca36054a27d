'use strict'
// The keys of keyed maps: strings, numbers and bigints, kept apart.

function checkKey(key) {
  const type = typeof key
  if (type !== 'string' && type !== 'number' && type !== 'bigint') {
    const found = key === null ? 'null' : type
    throw new TypeError(`a key must be a string, a number or a bigint, not ${found}`)
  }
  if (Number.isNaN(key)) throw new RangeError('a key must not be NaN')
}

/** Returns the key as error messages show it, where the string '1' differs from the number 1. */
function nameOf(key) {
  return typeof key === 'string' ? JSON.stringify(key) : String(key)
}

/** The name of a lock in error messages. A keyed map may name its keys by a titleOf(key) of its own. */
function titleOf(kind, { name, key, keyMap }) {
  if (keyMap === null) return name === undefined ? `the ${kind}` : `the ${kind} ${nameOf(name)}`
  if (keyMap.titleOf !== undefined) return keyMap.titleOf(key)
  const map = keyMap.name === undefined ? '' : ` in ${nameOf(keyMap.name)}`
  return `the ${kind} of key ${nameOf(key)}${map}`
}

module.exports = { checkKey, nameOf, titleOf }
