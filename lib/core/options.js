'use strict'
// Checks the options of callers, and reads each of them once.
const { checkType, isError, kindError, typeError } = require('./errors.js')
const platform = require('./platform.js')
const { givenOf, WithDefaults } = require('./wait_defaults.js')

/** setTimeout() fires at once if its delay is longer. So a timeout of more than 24 days means none. */
const longestTimeout = 2 ** 31 - 1

/**
 * Throws unless `callback` is a function. `key` is the argument before it, `options` the one after it, if there are
 * any.
 */
function checkCallback(callback, key, options) {
  if (typeof options === 'function') {
    if (typeof callback !== 'function') {
      throw new TypeError('callback must come before the options')
    }
    throw new TypeError('one callback only: await the returned promise')
  }
  if (typeof callback === 'function') return
  if (typeof callback?.then === 'function') {
    throw new TypeError(
      'callback must be a function, not a Promise, whose work has begun: pass () => work()',
    )
  }
  if (typeof key === 'function') {
    throw new TypeError('the key is missing: a keyed lock takes (key, callback)')
  }
  throw kindError('callback must be a function', callback)
}

/** The error for a surplus last argument, which would have no effect. */
const surplusError = () =>
  new TypeError(
    'too many arguments: pass all options in one object, { priority, timeout }; methods that try take none',
  )

const isObject = (value) => typeof value === 'object' && value !== null

function checkObject(options) {
  if (!isObject(options)) throw kindError('options must be an object', options)
}

/**
 * Throws if `options` has a property that is not in the Set `known`, or is an object of another kind, such as a signal.
 * Ignoring it would hide a mistake.
 */
function checkKnown(options, known) {
  let isEmpty = true
  // Inherited options count, because they are read as well.
  for (const name in options) {
    isEmpty = false
    if (known.has(name) || isOfEveryObject(options, name)) continue
    throw optionsError(options, known) ?? unknownError(name, known)
  }
  if (!isEmpty) return
  const error = optionsError(options, known)
  // Getters of a class are options, too.
  if (error !== undefined && ![...known].some((name) => name in options)) throw error
}

/** The name of the option that takes an object of each kind. */
const optionOf = { SharedArrayBuffer: 'buffer', AbortSignal: 'signal', Engine: 'engine' }

/** Returns an error if `options` is an object of another kind, else undefined. */
function optionsError(options, known) {
  const kind = Object.prototype.toString.call(options).slice(8, -1)
  if (kind === 'Object') return undefined
  const option = optionOf[kind]
  const hint = known.has(option) ? `: did you mean { ${option} }?` : ''
  return new TypeError(`options must be an object, not ${kind}${hint}`)
}

/** Whether `options` has `name` only because a program has added it to the Object.prototype of some realm. */
function isOfEveryObject(options, name) {
  let owner = options
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner)
  if (owner === null || owner === options) return false
  return Object.getPrototypeOf(owner) === null && Object.hasOwn(owner, 'hasOwnProperty')
}

/** Hints for options that belong to other packages, to engines or to other locks. */
const meant = {
  __proto__: null,
  ttl: 'it is an option of the engine; a lock has maxHold',
  lease: 'did you mean maxHold?',
  duration: 'did you mean maxHold?',
  reentrant: 'a KeyedMutex has it; without keys use a RecursiveMutex',
  cancelError: 'a lock with cancel() has it',
}

function unknownError(name, known) {
  const near = nearest(name, known)
  const guess = near && `did you mean ${near}?`
  const hint = (known.has('maxHold') && meant[name]) || guess
  return new TypeError(
    `unknown option ${JSON.stringify(name)}${hint ? `: ${hint}` : ''} (known: ${[...known].sort().join(', ')})`,
  )
}

/** Returns the name that takes the fewest edits to become `wrong`, unless it takes more than half of its letters. */
function nearest(wrong, names) {
  let best
  let fewest = Math.floor(wrong.length / 2)
  for (const name of names) {
    const count = edits(wrong.toLowerCase(), name.toLowerCase())
    if (count > fewest || (count === fewest && best !== undefined)) continue
    best = name
    fewest = count
  }
  return best
}

/** Returns the Levenshtein distance: how many letters to change, insert or delete to turn `one` into `other`. */
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
  checkType('priority', priority, 'number')
  if (Number.isNaN(priority)) throw new RangeError('priority must not be NaN')
}

function checkTimeout(timeout) {
  checkMilliseconds('timeout', timeout)
  if (!(timeout >= 0)) throw new RangeError(`timeout must be 0 ms or more, not ${timeout}`)
}

const units = { ms: 1, s: 1000, m: 60_000, min: 60_000 }

/** Throws unless `time` is a number. The message calls it `name`. */
function checkMilliseconds(name, time) {
  if (typeof time === 'number') return
  const text = typeof time === 'string' ? time : ''
  const [, count, unit] = /^(\d+(?:\.\d+)?) *(ms|s|m|min)$/.exec(text) ?? []
  const hint = unit === undefined ? '' : `: did you mean ${count * units[unit]}?`
  throw typeError(`${name} must be a number of milliseconds`, time, hint)
}

function checkMaxPending(maxPending) {
  checkType('maxPending', maxPending, 'number', ' of waiters')
  if (maxPending >= 0 && (Number.isInteger(maxPending) || maxPending === Infinity)) return
  throw new RangeError(`maxPending must be an integer of 0 or more, or Infinity, not ${maxPending}`)
}

function checkSignal(signal) {
  const isSignal =
    isObject(signal) &&
    typeof signal.aborted === 'boolean' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  if (!isSignal) throw kindError('signal must be an AbortSignal', signal)
}

/**
 * Returns the options of a constructor, which also takes, as async-mutex does, the error for cancel() in their place.
 */
function asOptions(given) {
  // Errors of other realms count. They are told from options before any option is read, because an error has a `name`,
  // too.
  if (given instanceof Error || isError(given)) return { cancelError: given }
  if (typeof given === 'string') {
    throw new TypeError(
      `options must be an object, not a string: did you mean { name: ${JSON.stringify(given)} }?`,
    )
  }
  checkObject(given)
  return 'stack' in given ? { cancelError: given } : given
}

const usual = Object.freeze({ priority: 0, timeout: undefined, signal: undefined })

const waitOptions = new Set(['priority', 'timeout', 'signal'])
const weightedWaitOptions = new Set([...waitOptions, 'weight'])
const lockingOptions = new Set([...waitOptions, 'maxPending'])
const acquireOptions = new Set([...lockingOptions, 'ifAvailable'])
const weightedAcquireOptions = new Set([...acquireOptions, 'weight'])

/** Throws for a callback that the method would never call while it holds the lock. */
function refuseCallback(given) {
  if (typeof given !== 'function') return
  throw new TypeError(
    'acquire() and tryAcquire() take no callback: use runExclusive(), runShared() or tryRunExclusive()',
  )
}

/** Throws for an argument of a method that does not wait and has no options. */
function refuseOptions(given) {
  refuseCallback(given)
  if (given !== undefined) throw surplusError()
}

/** Returns the limits of a wait. `options` is a priority, an object whose properties are in `known`, or left out. */
function readWait(options, known = waitOptions) {
  if (options === undefined) return usual
  if (options instanceof WithDefaults)
    return options.complete(readWait(options.given, known), known)
  if (typeof options === 'number') {
    checkPriority(options)
    return { priority: options, timeout: undefined, signal: undefined }
  }
  if (known.has('maxPending')) refuseCallback(options)
  checkObject(options)
  checkKnown(options, known)
  const { priority = 0, timeout, signal, ifAvailable = false, maxPending } = options
  checkPriority(priority)
  if (timeout !== undefined) checkTimeout(timeout)
  if (signal !== undefined) checkSignal(signal)
  if (maxPending !== undefined) checkMaxPending(maxPending)
  checkType('ifAvailable', ifAvailable, 'boolean')
  // ifAvailable excludes a timeout.
  if (ifAvailable) return { priority, timeout: 0, signal, ifAvailable }
  if (maxPending !== undefined) return { priority, timeout, signal, maxPending }
  return { priority, timeout, signal }
}

/** Throws unless `options` is an object. For calls that do not take a lone priority. */
function checkWaitObject(options) {
  refuseNumber(options)
  checkObject(options)
}

/** Throws for a lone number. It may be meant as a timeout or, if `isRanked`, as a priority. */
function refuseNumber(options, isRanked = true) {
  const given = givenOf(options)
  if (typeof given !== 'number') return
  const orPriority = isRanked ? `; for a priority: { priority: ${given} }` : ''
  throw new TypeError(
    `options must be an object; for a timeout: { timeout: ${given} }${orPriority}`,
  )
}

const forEver = Object.freeze({ priority: 0, timeout: Infinity })

/** Returns the limits of a call that blocks its thread. `longest` is its timeout if the options have none. */
function readSyncWait(options, known = waitOptions, longest = Infinity) {
  if (options instanceof WithDefaults)
    return readSyncWait(options.given, known, options.defaults.timeout)
  if (options === undefined)
    return longest === Infinity ? forEver : { priority: 0, timeout: longest }
  checkWaitObject(options)
  if ('ifAvailable' in options) {
    throw new TypeError(
      'blocking calls take no ifAvailable: use the method whose name begins with try',
    )
  }
  checkKnown(options, known)
  const { priority = 0, timeout = longest, signal } = options
  checkPriority(priority)
  checkTimeout(timeout)
  if (signal !== undefined) throw new TypeError('blocking calls take no signal: use timeout')
  return { priority, timeout }
}

/** Throws if `method` would block the main thread, unless `may`. */
function checkMayBlock(may, method) {
  if (may || !platform.isMainThread()) return
  throw new TypeError(
    `${method}() would block the main thread and every promise on it; ` +
      'wait in a worker, or pass { allowBlockingMainThread: true } to the constructor',
  )
}

module.exports = {
  acquireOptions,
  asOptions,
  checkCallback,
  checkKnown,
  checkMaxPending,
  checkMayBlock,
  checkMilliseconds,
  checkObject,
  checkPriority,
  checkSignal,
  checkTimeout,
  checkWaitObject,
  isObject,
  isOfEveryObject,
  lockingOptions,
  longestTimeout,
  readSyncWait,
  readWait,
  refuseNumber,
  refuseOptions,
  surplusError,
  waitOptions,
  weightedAcquireOptions,
  weightedWaitOptions,
}
