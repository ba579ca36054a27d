'use strict'
// The diagnostics of a lock, from its options `diagnostics` and `warnAfter`, or from BOXOFFICE_DIAGNOSTICS.
const builtins = require('../core/builtins.js')
const { checkType, lockError, typeError } = require('../core/errors.js')
const { checkKnown, isObject } = require('../core/options.js')

const levels = { off: 0, counters: 1, full: 2 }

const byValue = new Map([
  [false, levels.off],
  ['counters', levels.counters],
  [true, levels.full],
])

const orderOptions = new Set(['order'])

const variable = 'BOXOFFICE_DIAGNOSTICS'
const byText = new Map([
  ['', levels.off],
  ['0', levels.off],
  ['false', levels.off],
  ['counters', levels.counters],
  ['1', levels.full],
  ['true', levels.full],
  ['order', levels.full],
])

const text = builtins.variable(variable) ?? ''
/**
 * The default for locks without a `diagnostics` option. Read once, because reading the environment costs more than a
 * lock.
 */
const usual = { level: readEnvironment(), isOrdered: text === 'order' }

function readEnvironment() {
  const level = byText.get(text)
  if (level !== undefined) return level
  throw new TypeError(
    `${variable} must be 1 (or true), order, counters or 0 (or false), not ${JSON.stringify(text)}`,
  )
}

/** Reads the option `diagnostics`: its level, and whether to watch the order of locks. */
function readLevel(diagnostics) {
  if (isObject(diagnostics)) {
    checkKnown(diagnostics, orderOptions)
    const { order } = diagnostics
    checkType('order', order, 'boolean')
    return { level: levels.full, isOrdered: order }
  }
  const level = byValue.get(diagnostics)
  if (level !== undefined) return { level, isOrdered: false }
  throw typeError("diagnostics must be a boolean, 'counters' or { order: true }", diagnostics)
}

/** Returns the settings of diagnostics, or undefined when they are off. */
function readDiagnostics(diagnostics, warnAfter) {
  const { level, isOrdered } = diagnostics === undefined ? usual : readLevel(diagnostics)
  if (level === levels.full) checkHooks()
  if (warnAfter !== undefined) checkWarnAfter(warnAfter)
  if (warnAfter === undefined) {
    if (level === levels.off) return undefined
    return { level, isOrdered, warnAfter, isAsked: diagnostics !== undefined }
  }
  return { level: Math.max(level, levels.counters), isOrdered, warnAfter, isAsked: true }
}

/** Throws on Bun: chains of calls need async_hooks, and Bun's does nothing. */
function checkHooks() {
  if (globalThis.Bun === undefined) return
  const message = "diagnostics: true needs async_hooks, which Bun does not have: use 'counters'"
  throw lockError('ERR_LOCK_UNSUPPORTED', message)
}

function checkWarnAfter(warnAfter) {
  checkType('warnAfter', warnAfter, 'number', ' of milliseconds')
  if (!(warnAfter > 0)) throw new RangeError(`warnAfter must be more than 0 ms, not ${warnAfter}`)
}

/** Throws if the options ask for diagnostics of `what`, which has none. Ignores BOXOFFICE_DIAGNOSTICS. */
function refuseDiagnostics(diagnostics, what) {
  if (diagnostics?.isAsked) throw new TypeError(`diagnostics are not available for ${what}`)
}

/** Whether locks without a `diagnostics` option have any. */
const isOn = usual.level !== levels.off

module.exports = { isOn, levels, readDiagnostics, refuseDiagnostics }
