'use strict'
// The keys of keyed maps: strings, numbers and bigints, kept apart.
const { kindError } = require('./errors.js')

/** Throws unless `key` can be a key of `map`, a keyed map, or undefined. */
function checkKey(key, map) {
  const type = typeof key
  if (type !== 'string' && type !== 'number' && type !== 'bigint') {
    throw kindError(`a key${placeOf(map)} must be a string, a number or a bigint`, key)
  }
  if (Number.isNaN(key)) throw new RangeError(`a key${placeOf(map)} must not be NaN`)
}

const placeOf = (map) => (map?.name === undefined ? '' : ` in ${nameOf(map.name)}`)

/** Returns the key as error messages show it, where 1, 1n and '1' differ. */
function nameOf(key) {
  if (typeof key === 'bigint') return `${key}n`
  return typeof key === 'string' ? JSON.stringify(key) : String(key)
}

/** The name of a lock in error messages. A keyed map may name its keys by a titleOf(key) of its own. */
function titleOf(kind, { name, key, keyMap }) {
  if (keyMap === null) return name === undefined ? `the ${kind}` : `the ${kind} ${nameOf(name)}`
  if (keyMap.titleOf !== undefined) return keyMap.titleOf(key)
  return `the ${kind} of key ${nameOf(key)}${placeOf(keyMap)}`
}

module.exports = { checkKey, nameOf, titleOf }
