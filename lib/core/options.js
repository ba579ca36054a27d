'use strict'
// Checks users' options and reads each of them once.
const { checkType, isError, kindError, typeError } = require('./errors.js')
const platform = require('./platform.js')

/** A longer delay makes setTimeout fire at once. So some 24 days and more count as no deadline. */
const longestTimeout = 2 ** 31 - 1

/** `key` is the argument before the callback, if the method takes one; `options` the one after it. */
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
      'callback must be a function, not a Promise, whose work has begun already: pass () => work()',
    )
  }
  if (typeof key === 'function') {
    throw new TypeError('the key is missing: a keyed lock takes (key, callback)')
  }
  throw kindError('callback must be a function', callback)
}

/** Returns `value`, which the callback of a blocking call has returned. */
const atOnce = (value) => platform.atOnce(value)

/** The error for an argument after all others, which would have no effect. */
const surplusError = () =>
  new TypeError(
    'nothing follows the options, nor a priority: pass both in one object, { priority, timeout }',
  )

const isObject = (value) => typeof value === 'object' && value !== null

function checkObject(options) {
  if (!isObject(options)) throw kindError('options must be an object', options)
}

/**
 * Throws if `options` has a name that is not in the Set `known`, or is an object of another kind: otherwise a mistake would
 * be ignored silently.
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

/** The options whose values are objects of these kinds. */
const optionOf = { SharedArrayBuffer: 'buffer', AbortSignal: 'signal', Engine: 'engine' }

/** The error for an object of another kind than options, if `options` is one. */
function optionsError(options, known) {
  const kind = Object.prototype.toString.call(options).slice(8, -1)
  if (kind === 'Object') return undefined
  const option = optionOf[kind]
  const hint = known.has(option) ? `: did you mean { ${option} }?` : ''
  return new TypeError(`options must be an object, not ${kind}${hint}`)
}

/** Whether `options` have `name` only because some code has added it to Object.prototype, of any realm. */
function isOfEveryObject(options, name) {
  let owner = options
  while (owner !== null && !Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner)
  if (owner === null || owner === options) return false
  return Object.getPrototypeOf(owner) === null && Object.hasOwn(owner, 'hasOwnProperty')
}

/** What is meant by options of other packages, of engines and of other locks in the constructor of a lock. */
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

/** The name that becomes `wrong` by the fewest edits, unless these are more than half of it. */
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

/** The number of letters to change, insert or delete to turn `one` into `other` (Levenshtein). */
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
  if (typeof timeout !== 'number') throw timeoutTypeError(timeout)
  if (!(timeout >= 0)) throw new RangeError(`timeout must be 0 ms or more, not ${timeout}`)
}

const units = { ms: 1, s: 1000, m: 60_000, min: 60_000 }

function timeoutTypeError(timeout) {
  const text = typeof timeout === 'string' ? timeout : ''
  const [, count, unit] = /^(\d+(?:\.\d+)?) *(ms|s|m|min)$/.exec(text) ?? []
  const hint = unit === undefined ? '' : `: did you mean ${count * units[unit]}?`
  return typeError('timeout must be a number of milliseconds', timeout, hint)
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

/** Constructors take options, or, as async-mutex's do, the error that cancel() rejects with. */
function asOptions(given) {
  // Errors of another realm count. An error has a name that is not meant as an option; options have
  // no stack.
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

/** Options of a wait. */
const waitOptions = new Set(['priority', 'timeout', 'signal'])
/** Options of a wait for units of a semaphore. */
const weightedWaitOptions = new Set([...waitOptions, 'weight'])
/** Options of lock(). */
const lockingOptions = new Set([...waitOptions, 'maxPending'])
/** Options of a method that acquires. */
const acquireOptions = new Set([...lockingOptions, 'ifAvailable'])
/** Options of a method that acquires units of a semaphore. */
const weightedAcquireOptions = new Set([...acquireOptions, 'weight'])

/** A call that takes no callback would hold the lock for one that it never calls. */
function refuseCallback(given) {
  if (typeof given !== 'function') return
  throw new TypeError(
    'acquire() and tryAcquire() take no callback: use runExclusive(), runShared() or tryRunExclusive()',
  )
}

/** The limits of a wait: `options` is a priority, an object with no options but those `known`, or left out. */
function readWait(options, known = waitOptions) {
  if (options === undefined) return usual
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

/** Checks the options of a call that does not take a lone priority in place of them. */
function checkWaitObject(options) {
  refuseNumber(options)
  checkObject(options)
}

/** Throws for a lone number, which may be meant as a timeout, or as a priority where a wait has one. */
function refuseNumber(options, isRanked = true) {
  if (typeof options !== 'number') return
  const orPriority = isRanked ? `; for a priority: { priority: ${options} }` : ''
  throw new TypeError(
    `options must be an object; for a timeout: { timeout: ${options} }${orPriority}`,
  )
}

const forEver = Object.freeze({ priority: 0, timeout: Infinity })

/** Returns the limits of a call that blocks its thread. */
function readSyncWait(options, known = waitOptions) {
  if (options === undefined) return forEver
  checkWaitObject(options)
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

/** Checks that `method` may block this thread: `may` says so, or it is not the main thread. */
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
  atOnce,
  checkCallback,
  checkKnown,
  checkMaxPending,
  checkMayBlock,
  checkObject,
  checkPriority,
  checkSignal,
  checkTimeout,
  checkWaitObject,
  isObject,
  isOfEveryObject,
  lockingOptions,
  longestTimeout,
  optionsError,
  readSyncWait,
  readWait,
  refuseCallback,
  refuseNumber,
  surplusError,
  timeoutTypeError,
  waitOptions,
  weightedAcquireOptions,
  weightedWaitOptions,
}
