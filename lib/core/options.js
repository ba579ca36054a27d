'use strict'
// What users give us: checked, read once, and told apart.
const { isNativeError } = require('../builtins.js').util.types

/** Beyond this setTimeout would fire at once: some 24 days count as no deadline. */
const longestTimeout = 2 ** 31 - 1

/** `key` is the argument before it, where there is one. */
function checkCallback(callback, key) {
  if (typeof callback === 'function') return
  if (typeof key === 'function') {
    throw new TypeError('the key is missing: a keyed lock takes (key, callback)')
  }
  throw new TypeError('callback must be a function')
}

function checkObject(options) {
  if (options === null || typeof options !== 'object') {
    throw new TypeError('options must be an object')
  }
}

/** Throws where `options` has one that is not `known`, a Set: it would be ignored without a word. */
function checkKnown(options, known) {
  // Inherited ones count, since they are read as well.
  for (const name in options) if (!known.has(name)) throw unknownError(name, known)
}

function unknownError(name, known) {
  const near = nearest(name, known)
  const hint = near === undefined ? '' : `: did you mean ${near}?`
  return new TypeError(
    `unknown option ${JSON.stringify(name)}${hint} (known: ${[...known].sort().join(', ')})`,
  )
}

/** The name that becomes `wrong` by the fewest edits, unless these are more than half of it. */
function nearest(wrong, names) {
  let best
  let fewest = Math.ceil(wrong.length / 2)
  for (const name of names) {
    const count = edits(wrong.toLowerCase(), name.toLowerCase())
    if (count > fewest || (count === fewest && best !== undefined)) continue
    best = name
    fewest = count
  }
  return best
}

/** How many letters have to be changed, added or taken out of `one` for it to be `other` (Levenshtein). */
function edits(one, other) {
  let last = Array.from({ length: other.length + 1 }, (_, i) => i)
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const changed = last[j] + (one[i] === other[j] ? 0 : 1)
      next.push(Math.min(changed, last[j + 1] + 1, next[j] + 1))
    }
    last = next
  }
  return last.at(-1)
}

function checkPriority(priority) {
  if (typeof priority !== 'number') throw new TypeError('priority must be a number')
  if (Number.isNaN(priority)) throw new RangeError('priority must not be NaN')
}

function checkTimeout(timeout) {
  if (typeof timeout !== 'number') throw new TypeError('timeout must be a number of milliseconds')
  if (!(timeout >= 0)) throw new RangeError(`timeout must be 0 ms or more, not ${timeout}`)
}

function checkMaxPending(maxPending) {
  if (typeof maxPending !== 'number') throw new TypeError('maxPending must be a number of waiters')
  if (maxPending >= 0 && (Number.isInteger(maxPending) || maxPending === Infinity)) return
  throw new RangeError(`maxPending must be an integer of 0 or more, or Infinity, not ${maxPending}`)
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

/** What a wait takes. */
const waitOptions = new Set(['priority', 'timeout', 'signal'])
/** The same with units of a semaphore. */
const weightedWaitOptions = new Set([...waitOptions, 'weight'])
/** What lock() takes. */
const lockingOptions = new Set([...waitOptions, 'maxPending'])
/** What a caller takes that is to hold the lock. */
const acquireOptions = new Set([...lockingOptions, 'ifAvailable'])
/** The same with units of a semaphore. */
const weightedAcquireOptions = new Set([...acquireOptions, 'weight'])

/** The limits of a wait: `options` is a priority, an object with no options but those `known`, or left out. */
function readWait(options, known = waitOptions) {
  if (options === undefined) return usual
  if (typeof options === 'number') {
    checkPriority(options)
    return { priority: options, timeout: undefined, signal: undefined }
  }
  checkObject(options)
  checkKnown(options, known)
  const { priority = 0, timeout, signal, ifAvailable = false, maxPending } = options
  checkPriority(priority)
  if (timeout !== undefined) checkTimeout(timeout)
  if (signal !== undefined) checkSignal(signal)
  if (maxPending !== undefined) checkMaxPending(maxPending)
  if (typeof ifAvailable !== 'boolean') throw new TypeError('ifAvailable must be a boolean')
  // What would be a timeout is undefined then.
  if (ifAvailable) return { priority, timeout: 0, signal, ifAvailable }
  if (maxPending !== undefined) return { priority, timeout, signal, maxPending }
  return { priority, timeout, signal }
}

const forEver = Object.freeze({ priority: 0, timeout: Infinity })

/** The same for a thread that blocks. */
function readSyncWait(options, known = waitOptions) {
  if (options === undefined) return forEver
  checkObject(options)
  if ('ifAvailable' in options) {
    throw new TypeError(
      'blocking calls take no ifAvailable: use the method whose name begins with try',
    )
  }
  checkKnown(options, known)
  const { priority = 0, timeout = Infinity, signal } = options
  checkPriority(priority)
  checkTimeout(timeout)
  if (signal !== undefined) throw new TypeError('blocking calls take no signal: use timeout')
  return { priority, timeout }
}

module.exports = {
  acquireOptions,
  asOptions,
  checkCallback,
  checkKnown,
  checkMaxPending,
  checkObject,
  checkPriority,
  checkSignal,
  checkTimeout,
  lockingOptions,
  longestTimeout,
  readSyncWait,
  readWait,
  waitOptions,
  weightedAcquireOptions,
  weightedWaitOptions,
}
