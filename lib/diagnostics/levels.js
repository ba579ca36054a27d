'use strict'
// The diagnostics of a lock, from its options `diagnostics` and `warnAfter`, or from BOXOFFICE_DIAGNOSTICS.
const builtins = require('../core/builtins.js')
const { checkType, lockError, typeError } = require('../core/errors.js')
const { checkKnown, checkMilliseconds, isObject } = require('../core/options.js')

const variable = 'BOXOFFICE_DIAGNOSTICS'
const byText = new Map([
  ['', false],
  ['0', false],
  ['false', false],
  ['counters', 'counters'],
  ['1', true],
  ['true', true],
  ['order', { order: true }],
])

/**
 * The default for locks without a `diagnostics` option. Read once, because reading the environment costs more than a
 * lock.
 */
const usual = readEnvironment()

function readEnvironment() {
  const text = builtins.variable(variable) ?? ''
  const diagnostics = byText.get(text)
  if (diagnostics !== undefined) return diagnostics
  throw new TypeError(
    `${variable} must be 1 (or true), order, counters or 0 (or false), not ${JSON.stringify(text)}`,
  )
}

const orderOptions = new Set(['order'])

/** Checks the option `diagnostics`. Returns whether it asks for the order of locks. */
function readOrder(diagnostics) {
  if (isObject(diagnostics)) {
    checkKnown(diagnostics, orderOptions)
    const { order } = diagnostics
    checkType('order', order, 'boolean')
    return order
  }
  if (typeof diagnostics === 'boolean' || diagnostics === 'counters') return false
  throw typeError("diagnostics must be a boolean, 'counters' or { order: true }", diagnostics)
}

/** Returns the settings of a lock's diagnostics, or undefined when they are off. */
function readDiagnostics(diagnostics, warnAfter) {
  const value = diagnostics === undefined ? usual : diagnostics
  const isOrdered = readOrder(value)
  const isFull = value !== false && value !== 'counters'
  if (isFull) checkHooks()
  if (warnAfter !== undefined) checkWarnAfter(warnAfter)
  else if (value === false) return undefined
  const isAsked = diagnostics !== undefined || warnAfter !== undefined
  return { isFull, isOrdered, warnAfter, isAsked }
}

/** Throws on Bun: chains of calls need async_hooks, and Bun's does nothing. */
function checkHooks() {
  if (globalThis.Bun === undefined) return
  const message = "diagnostics: true needs async_hooks, which Bun does not have: use 'counters'"
  throw lockError('ERR_LOCK_UNSUPPORTED', message)
}

function checkWarnAfter(warnAfter) {
  checkMilliseconds('warnAfter', warnAfter)
  if (!(warnAfter > 0)) throw new RangeError(`warnAfter must be more than 0 ms, not ${warnAfter}`)
}

/** Throws if the options ask for diagnostics of `what`, which has none. Ignores BOXOFFICE_DIAGNOSTICS. */
function refuseDiagnostics(diagnostics, what) {
  if (diagnostics?.isAsked) throw new TypeError(`diagnostics are not available for ${what}`)
}

/** Whether locks without a `diagnostics` option have any. */
const isOn = usual !== false

module.exports = { isOn, readDiagnostics, refuseDiagnostics }
