'use strict'
// The constructor's options `timeout` and `maxPending`: defaults for the waits of its object, which each wait may
// override.
const {
  checkMaxPending,
  checkTimeout,
  isObject,
  isOfEveryObject,
  optionsError,
  readSyncWait,
} = require('../core/options.js')

/**
 * Returns { waiting, acquiring }: the defaults of all waits, and of waits that acquire. Undefined if there are none.
 */
function readDefaults({ timeout, maxPending }) {
  if (timeout === undefined && maxPending === undefined) return undefined
  const waiting = {}
  if (timeout !== undefined) {
    checkTimeout(timeout)
    waiting.timeout = timeout
  }
  const acquiring = { ...waiting }
  if (maxPending !== undefined) {
    checkMaxPending(maxPending)
    acquiring.maxPending = maxPending
  }
  return { waiting, acquiring }
}

// With defaults, options are copied before they are completed, because they may be frozen. Each option is read once.

/** The options that a wait may have. */
const names = ['priority', 'timeout', 'signal', 'ifAvailable', 'maxPending', 'weight']
const isName = new Set(names)

/**
 * Returns a copy of `options`. Returns `options` itself if a getter throws, so that the code that reads them throws.
 */
function copyOf(options) {
  const copy = {}
  try {
    // Getters of a class count, too.
    for (const name of names) if (name in options) put(copy, name, options[name])
    // Keep the names of unknown options, so that the code that reads them rejects them.
    for (const name in options) {
      if (!isName.has(name) && !isOfEveryObject(options, name)) put(copy, name)
    }
  } catch {
    return options
  }
  return copy
}

function isOfAnotherKind(options) {
  try {
    return optionsError(options, isName) !== undefined
  } catch {
    return true // its Symbol.toStringTag throws, and will throw again when the options are read
  }
}

const isEmpty = (copy) => Object.keys(copy).length === 0

function put(copy, name, value) {
  Object.defineProperty(copy, name, {
    __proto__: null,
    value,
    enumerable: true,
    configurable: true,
  })
}

/** Returns the `options` of a wait, or its priority, completed by `defaults`. */
function withDefaults(options, defaults) {
  if (options === undefined) return defaults
  if (typeof options === 'number') return { ...defaults, priority: options }
  // The code that reads the options throws for it.
  if (!isObject(options)) return options
  const copy = copyOf(options)
  // The same for an object of another kind.
  if (copy === options || (isEmpty(copy) && isOfAnotherKind(options))) return options
  for (const name of Object.keys(defaults)) {
    if (copy[name] === undefined) put(copy, name, defaults[name])
  }
  return copy
}

// Each of these completes the options of a wait by the `defaults` of its object, if it has any. acquiring() is for
// calls that acquire, waiting() for all others.

const acquiring = (defaults, options) =>
  defaults === undefined ? options : withDefaults(options, defaults.acquiring)
/** As acquiring(), for keyed locks. They take no lone priority, so a number stays as it is and is rejected later. */
const acquiringKeys = (defaults, options) =>
  typeof options === 'number' ? options : acquiring(defaults, options)
const waiting = (defaults, options) =>
  defaults === undefined ? options : withDefaults(options, defaults.waiting)
/** Returns the limits of a call that blocks its thread. */
const blocking = (defaults, options) => readSyncWait(waiting(defaults, options))

module.exports = { acquiring, acquiringKeys, blocking, readDefaults, waiting, withDefaults }
