'use strict'
// Replaces the defaults of lib/core/platform.js by the features of Node.js. The entries of the package load it before
// any lock.
const builtins = require('../core/builtins.js')
const platform = require('../core/platform.js')
const { trackWaits } = require('../core/pending.js')
const { warn, warnHere } = require('../core/warn.js')

const isAsync =
  'the callback of a blocking call returned a Promise, which the lock does not wait for: use runExclusive() or runShared()'

Object.assign(platform, {
  now: builtins.now,
  addAbortListener: builtins.events.addAbortListener,
  atOnce,
  expectListeners,
  howToSeeHolders: '; set BOXOFFICE_DIAGNOSTICS=1 to see who holds it',
  contextStorage,
  isMainThread,
  describe,
  inspected,
  reentrantKind,
  scopes,
  trackWaits,
  warnHere,
})

if (builtins.variable('BOXOFFICE_DIAGNOSTICS')) {
  platform.isWatched = require('../diagnostics/levels.js').isOn && mayWatch()
}

/** Whether locks can have diagnostics. Warns in a bundle without the addon, which has only locks of one thread. */
function mayWatch() {
  const { advice } = scopes()
  if (advice === undefined) return true
  const message =
    'BOXOFFICE_DIAGNOSTICS is set, but this bundle lacks the addon that diagnostics need: its locks have none'
  warn('BOXOFFICE_NO_DIAGNOSTICS', message, { detail: advice })
  return false
}

const replaced =
  'the global Promise is not the native one, and may run a callback in the async context of another caller: then that ' +
  'callback enters a RecursiveMutex or a reentrant map that the other caller holds, or waits for itself'

/** Returns what tells the callers of recursive and reentrant locks apart. */
function contextStorage() {
  const isNative = builtins.util.types.isPromise(new Promise(() => {}))
  if (!isNative) warnHere('BOXOFFICE_PROMISE', replaced, 'The first one was constructed')
  return new builtins.async_hooks.AsyncLocalStorage()
}

/**
 * Loads node:worker_threads only when a method blocks, because it loads Node's streams, which take longer than all
 * locks.
 */
function isMainThread() {
  const { isMainThread } = builtins.worker_threads
  platform.isMainThread = () => isMainThread
  return isMainThread
}

function expectListeners(signal) {
  try {
    builtins.events.setMaxListeners(0, signal)
  } catch (error) {
    // The signal is from a polyfill or jsdom, and has no such limit.
    if (error.code !== 'ERR_INVALID_ARG_TYPE') throw error
  }
}

function atOnce(value) {
  try {
    if (typeof value?.then === 'function')
      warnHere('BOXOFFICE_ASYNC_CALLBACK', isAsync, 'It was called')
  } catch {
    // The callback has run, so its caller must get the value, even if reading `then` throws or the stack is exhausted.
  }
  return value
}

function describe(value) {
  const { inspect, types } = builtins.util
  if (types.isProxy(value)) return 'a Proxy'
  return inspect(value, { depth: -1, customInspect: false, maxStringLength: 20 })
}

/** Returns what console.log() prints for the lock `it`: its name, its scope, and the state that look() returns. */
function inspected(it, { name, scope }, look, options, inspect) {
  const state = { ...(name !== undefined && { name }), scope }
  try {
    Object.assign(state, look())
  } catch (error) {
    state.error = error.message
  }
  return `${it.constructor.name} ${inspect(state, options)}`
}

/**
 * Loads reentrant.js with the first reentrant lock: its AsyncLocalStorage slows down every promise on Node 20 and 22.
 */
function reentrantKind(kind, map) {
  return require('./reentrant.js').reentrantKind(kind, map)
}

/** `imports` of package.json maps `#scopes` to lib/options/scopes.js, or in a bundle to lib/addon/no_scopes.mjs. */
function scopes() {
  const all = require('#scopes')
  platform.scopes = () => all
  return all
}

const system = `${process.platform}-${process.arch}`

const snapshot = () => platform.scopes().snapshot()

module.exports = { platform: system, snapshot }
