'use strict'
// What users give us: checked, read once, and told apart.
const { isNativeError } = require('node:util').types

/** Beyond this setTimeout would fire at once: some 24 days count as no deadline. */
const longestTimeout = 2 ** 31 - 1

function checkCallback(callback) {
  if (typeof callback !== 'function') throw new TypeError('callback must be a function')
}

function checkObject(options) {
  if (options === null || typeof options !== 'object') {
    throw new TypeError('options must be an object')
  }
}

function checkPriority(priority) {
  if (typeof priority !== 'number') throw new TypeError('priority must be a number')
  if (Number.isNaN(priority)) throw new RangeError('priority must not be NaN')
}

function checkTimeout(timeout) {
  if (typeof timeout !== 'number') throw new TypeError('timeout must be a number of milliseconds')
  if (!(timeout >= 0)) throw new RangeError(`timeout must be 0 ms or more, not ${timeout}`)
}

function checkSignal(signal) {
  const isSignal =
    signal !== null &&
    typeof signal === 'object' &&
    typeof signal.aborted === 'boolean' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  if (!isSignal) throw new TypeError('signal must be an AbortSignal')
}

/** Constructors take the error that cancel() rejects with, as async-mutex's do, or options. */
function asOptions(given) {
  // Of another realm, too. An error has a name, but means none. Options have no stack.
  if (given instanceof Error || isNativeError(given)) return { cancelError: given }
  checkObject(given)
  return 'stack' in given ? { cancelError: given } : given
}

const usual = Object.freeze({ priority: 0, timeout: undefined, signal: undefined })

/** How somebody wants to wait: `options` is a priority, an object, or left out. */
function readWait(options) {
  if (options === undefined) return usual
  if (typeof options === 'number') {
    checkPriority(options)
    return { priority: options, timeout: undefined, signal: undefined }
  }
  checkObject(options)
  const { priority = 0, timeout, signal, weight } = options
  checkPriority(priority)
  if (timeout !== undefined) checkTimeout(timeout)
  if (signal !== undefined) checkSignal(signal)
  return { priority, timeout, signal, weight }
}

const forEver = Object.freeze({ priority: 0, timeout: Infinity })

/** The same for a thread that blocks. */
function readSyncWait(options) {
  if (options === undefined) return forEver
  checkObject(options)
  const { priority = 0, timeout = Infinity, signal, weight } = options
  checkPriority(priority)
  checkTimeout(timeout)
  if (signal !== undefined) throw new TypeError('a thread that blocks cannot hear of a signal')
  return { priority, timeout, weight }
}

module.exports = {
  asOptions,
  checkCallback,
  checkObject,
  checkPriority,
  checkSignal,
  checkTimeout,
  longestTimeout,
  readSyncWait,
  readWait,
}
