'use strict'
const { isAnyArrayBuffer, isArrayBufferView } = require('node:util').types

/**
 * Returns the client options `value` in a form that another thread can receive. Leaves out options for which
 * isNotNeeded(name, options) returns true. Throws if structured clone would lose any other option: without it the
 * thread might connect to another server, as another user, or not at all.
 */
function plain(value, isNotNeeded, path = '') {
  if (typeof value === 'function') throw notForThread(path, 'a function')
  if (typeof value === 'symbol') throw notForThread(path, 'a symbol')
  if (value === null || typeof value !== 'object') return value
  if (isAnyArrayBuffer(value) || isArrayBufferView(value)) return value
  if (Array.isArray(value)) return value.map((one, i) => plain(one, isNotNeeded, `${path}[${i}]`))
  const prototype = Object.getPrototypeOf(value)
  // Compare no constructors: options may come from another realm, such as a test's vm context.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw notForThread(path, `an object of class ${value.constructor?.name}`)
  }
  const entries = Object.entries(value)
    .filter(([name, one]) => one !== undefined && !isNotNeeded(name, value))
    .map(([name, one]) => [name, plain(one, isNotNeeded, (path && `${path}.${name}`) || name)])
  return Object.fromEntries(entries)
}

function notForThread(path, what) {
  const which = path === '' ? 'the options of the client are' : `the option ${path} is`
  return new TypeError(
    `${which} ${what}, and cannot go to the thread that renews leases: give redis(client, { connection }) ` +
      'options to connect with that have no functions and no objects of classes',
  )
}

module.exports = { plain }
