'use strict'
// Errors of engines.
const { causedError } = require('../core/caused_errors.js')
const { lockError } = require('../core/errors.js')

/**
 * Errors of servers that have not answered, where a later attempt may succeed. The value tells whether the server had
 * answered the same wait before.
 */
const unanswered = new WeakMap()

const isUnanswered = (error) => unanswered.has(error)
const hadAnswered = (error) => unanswered.get(error) === true

/** Makes the error. `what` names the lock. `hasAnswered` tells whether the server has answered the same wait before. */
function engineError(name, what, time, cause, hasAnswered = false) {
  const check = '; check that the server runs and can be reached'
  const why = cause === undefined ? check : `: ${reasonOf(cause)}`
  const message = `${name} has not answered for ${what} within ${time} ms${why}`
  return unansweredError(message, cause, hasAnswered)
}

function unansweredError(message, cause, hasAnswered) {
  const error = causedError('ERR_LOCK_ENGINE', message, cause)
  unanswered.set(error, hasAnswered)
  return error
}

/** The error when the start of a session has neither succeeded nor failed within `time` ms. */
function startError(name, time, cause) {
  const busy = 'this machine may be overloaded; await engine.ready() when the process starts'
  const why = cause === undefined ? busy : reasonOf(cause)
  const message = `the session with ${name} is still starting after ${time} ms: ${why}`
  return unansweredError(message, cause, false)
}

/** The error when an attempt to open a session has failed. */
function unreadyError(name, cause) {
  const message = `the session with ${name} could not be opened: ${reasonOf(cause)}`
  return causedError('ERR_LOCK_ENGINE', message, cause)
}

function closedError(name) {
  return lockError('ERR_LOCK_ENGINE', `the engine for ${name} has been closed: make another one`)
}

/** The error when a closing engine could not tell the server of the end of its session, because of `cause`. */
function untoldError(name, ttl, cause) {
  const message =
    `the engine is closed, but ${name} could not be told to free its locks: ${clauseOf(cause)}. ` +
    `They are free once their ttl of ${ttl} ms is over. Close an engine before its client`
  return causedError('ERR_LOCK_ENGINE', message, cause)
}

/** Functions that tell, by the state of a driver's answer, whether engine.d.ts allows it. */
const isValidAnswer = {
  __proto__: null,
  held: ({ token }) => typeof token === 'bigint',
  waiting: ({ look }) => Number.isFinite(look),
  refused: (_, isToWait) => !isToWait,
  mismatch: () => true,
  lost: () => true,
}

/**
 * Returns an error if an answer is invalid, or arrives too late for the second time. After such an answer the engine
 * pauses before it asks again, because asking at once may never end.
 */
function faultOf({ answer, isToWait, isKnown, isLateAgain, maxHold }) {
  const state = answer?.state
  if (!isValidAnswer[state]?.(answer, isToWait)) {
    const token = state === 'held' ? ` and a token of type ${typeof answer.token}` : ''
    return new Error(
      `its driver has answered enter() with the state ${state}${token}: see EngineAnswer of engine.d.ts`,
    )
  }
  if (state === 'lost' && !isKnown)
    return new Error(
      'it does not know the session that it has just opened: does the client use another server or database?',
    )
  if (!isLateAgain) return undefined
  return new Error(`its answer came after the end of the hold: ${maxHold} ms are too short`)
}

/**
 * Returns the text of a warning: for `time` ms, because of `cause`, the server could not be told that a lease has
 * ended.
 */
const untoldReleaseText = (name, time, cause) =>
  `${name} could not be told for ${time} ms that a lock has been released: ${clauseOf(cause)}. Others get it when the ` +
  'maxHold of its hold is over, when its engine is closed, or after ttl if this thread has no other lock of the engine'

// Texts for the end of a timeout's message, which say where the holder of `what` is.

const lostHint = (what) =>
  `; a caller of this thread has not released ${what}, though it has lost it: end its work when its signal aborts`

function elsewhereHint(what, times) {
  const rest = times?.minHold ? ', or the minHold of its last grant is not over' : ''
  return `; another caller has ${what}, perhaps in another process${rest}: docs/operations.md shows how to see which`
}

/** The error when `what` is in use with the value `theirs`, and this process has constructed it with `ours`. */
function mismatchError(what, theirs, ours) {
  const message = `${what} is in use with the value ${theirs}, not ${ours}: construct it alike everywhere`
  return lockError('ERR_LOCK_MISMATCH', message)
}

/**
 * The error when another version of this package uses `place` with another protocol. `theirs` and `ours` are the
 * protocols. `cure` says how to empty the place.
 */
function versionError(place, theirs, ours, cure) {
  const message =
    `${place} belongs to a version of boxoffice with protocol ${theirs}, and this version has protocol ${ours}: ` +
    `run one version in all processes. To change it, stop all processes that use these locks, ${cure}, and start them with the other version`
  return lockError('ERR_LOCK_ENGINE_VERSION', message)
}

/** The error when the `key` in Redis says that other processes spread their locks over another number of shards. */
function shardsError(key, theirs, ours) {
  const message =
    `the other processes have shards: ${theirs}, and this one has shards: ${ours}, so they would share few locks: ` +
    `pass the same number everywhere. To change it, stop all processes that use these locks, delete the key ${key}, and start them again`
  return lockError('ERR_LOCK_MISMATCH', message)
}

// Passes errors between threads. Structured clone would drop their codes, and the errors inside an AggregateError.

/**
 * Returns the message of an error. An error of connecting to several addresses has messages only in its inner errors,
 * and the TimeoutError of node-redis has none.
 */
function reasonOf(error) {
  const kind = error.code ?? (error instanceof Error ? error.constructor.name : error)
  return error.message || error.errors?.map(reasonOf).join('; ') || `${kind}`
}

/** As reasonOf(), for use before more text. Some clients end their messages with a full stop, which this removes. */
const clauseOf = (error) => reasonOf(error).replace(/\.$/, '')

function pack(error) {
  if (!(error instanceof Error)) return { message: `${error}` }
  const { name, code, stack, cause } = error
  return { message: reasonOf(error), name, code, stack, cause: cause && pack(cause) }
}

function unpack({ message, cause, ...words }) {
  const error = new Error(message, cause && { cause: unpack(cause) })
  for (const [name, value] of Object.entries(words)) {
    if (value !== undefined)
      Object.defineProperty(error, name, {
        __proto__: null,
        value,
        configurable: true,
        writable: true,
        enumerable: name === 'code',
      })
  }
  return error
}

module.exports = {
  closedError,
  elsewhereHint,
  engineError,
  faultOf,
  hadAnswered,
  isUnanswered,
  lostHint,
  mismatchError,
  pack,
  reasonOf,
  shardsError,
  startError,
  unpack,
  unreadyError,
  untoldError,
  untoldReleaseText,
  versionError,
}
