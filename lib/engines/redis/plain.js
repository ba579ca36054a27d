'use strict'
const { isAnyArrayBuffer, isArrayBufferView } = require('node:util').types

/** What of `value` another thread can be given: without functions, and objects of classes. */
function plain(value) {
  if (value === null || typeof value !== 'object') {
    return typeof value === 'function' || typeof value === 'symbol' ? undefined : value
  }
  if (isAnyArrayBuffer(value) || isArrayBufferView(value)) return value
  if (Array.isArray(value)) return value.map(plain)
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const entries = Object.entries(value).map(([name, one]) => [name, plain(one)])
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined))
}

module.exports = { plain }
