'use strict'
// What a constructor says for the waits of its object: `timeout` and `maxPending`. Each wait may say otherwise.
const { checkMaxPending, checkTimeout, readSyncWait } = require('../core/options.js')

/** { waiting, acquiring }: of every wait, and of those that are to hold the lock. Undefined where there are none. */
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

/** `options` of a wait, or a priority, with `defaults` for what they leave out. */
function withDefaults(options, defaults) {
  if (options === undefined) return defaults
  if (typeof options === 'number') return { ...defaults, priority: options }
  // The reader of options refuses it.
  if (options === null || typeof options !== 'object') return options
  const missing = {}
  for (const name in defaults) {
    if (options[name] === undefined) missing[name] = { value: defaults[name], enumerable: true }
  }
  // Not by assignment: options may be frozen.
  return Object.create(options, missing)
}

/** The same of (weight, options) or (options): what stands for both, or the weight where the options are none. */
function unitsWithDefaults(weight, options, defaults) {
  if (weight !== undefined && typeof weight !== 'number') return withDefaults(weight, defaults)
  const limits = withDefaults(options, defaults)
  if (limits === null || typeof limits !== 'object') return weight
  return Object.create(limits, { weight: { value: weight, enumerable: true } })
}

// Of an object with `defaults`, or undefined: what a caller gives that is to hold the lock, and what any other wait takes.
// A semaphore takes (weight, options) or (options): the weight stands for both then.

const acquiring = (defaults, options) =>
  defaults === undefined ? options : withDefaults(options, defaults.acquiring)
const waiting = (defaults, options) =>
  defaults === undefined ? options : withDefaults(options, defaults.waiting)
/** The limits of a caller that blocks its thread. */
const blocking = (defaults, options) => readSyncWait(waiting(defaults, options))
const acquiringUnits = (defaults, weight, options) =>
  defaults === undefined ? weight : unitsWithDefaults(weight, options, defaults.acquiring)
const waitingUnits = (defaults, weight, options) =>
  defaults === undefined ? weight : unitsWithDefaults(weight, options, defaults.waiting)

module.exports = { acquiring, acquiringUnits, blocking, readDefaults, waiting, waitingUnits }
