'use strict'
// A constructor's defaults for the waits of its object: `timeout` and `maxPending`. Each wait may
// override them.
const {
  checkMaxPending,
  checkTimeout,
  isObject,
  isOfEveryObject,
  optionsError,
  readSyncWait,
} = require('../core/options.js')

/**
 * { waiting, acquiring }: defaults of every wait, and of waits that acquire. Undefined without any.
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

// Where there are defaults, options are copied, because they may be frozen. Each is read once.

/** The options that a wait may have. */
const names = ['priority', 'timeout', 'signal', 'ifAvailable', 'maxPending', 'weight']
const isName = new Set(names)

/** The values of `options`, or `options` if a getter throws: then the reader meets the error. */
function copyOf(options) {
  const copy = {}
  try {
    // Getters of a class count, too.
    for (const name of names) if (name in options) put(copy, name, options[name])
    // The reader of options rejects a name that is not known.
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
    return true // its own Symbol.toStringTag throws: the reader of options meets the error
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

/** `options` of a wait, or a priority, completed by `defaults`. */
function withDefaults(options, defaults) {
  if (options === undefined) return defaults
  if (typeof options === 'number') return { ...defaults, priority: options }
  // The reader of options rejects it.
  if (!isObject(options)) return options
  const copy = copyOf(options)
  // The reader of options rejects an object of another kind, too.
  if (copy === options || (isEmpty(copy) && isOfAnotherKind(options))) return options
  for (const name of Object.keys(defaults)) {
    if (copy[name] === undefined) put(copy, name, defaults[name])
  }
  return copy
}

// Each of these completes the options of a wait by an object's `defaults`, or by none: `acquiring` for a caller that
// acquires, `waiting` for any other.

const acquiring = (defaults, options) =>
  defaults === undefined ? options : withDefaults(options, defaults.acquiring)
/** Completes the options for keys, whose caller has no lone priority: the reader of the options refuses it. */
const acquiringKeys = (defaults, options) =>
  typeof options === 'number' ? options : acquiring(defaults, options)
const waiting = (defaults, options) =>
  defaults === undefined ? options : withDefaults(options, defaults.waiting)
/** The limits of a call that blocks its thread. */
const blocking = (defaults, options) => readSyncWait(waiting(defaults, options))

module.exports = { acquiring, acquiringKeys, blocking, readDefaults, waiting, withDefaults }
