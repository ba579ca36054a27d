'use strict'
// Picks the scope of a lock, once, by its constructor's options. The code of a wider scope is
// loaded when the first lock of that scope is constructed.
//
// A kind of lock is { name, bytes, known, local, lent, shared, isGate, over }. `known` are the names
// of its own options, if it has any. `local(...args)` makes a lock of this thread. A lock that
// several threads share is `lent(settings)` (for a keyed map: of the class lent()), or has a core of
// the class shared(). `isGate`: an event, a latch, a barrier or a condition, which no thread holds. locks/reach.js
// lists the wider scopes that lack a class.
const { LocalLock } = require('./core/lock.js')
const { KeyMap } = require('./core/key_map.js')
const { readLockOptions } = require('./locks/lock_options.js')

/** Whether no other thread can ever know the lock. */
function isOfThread({ engine, host, name, buffer, isShared }) {
  const isNamed = engine !== undefined || host !== undefined || name !== undefined
  return !isNamed && buffer === undefined && !isShared
}

/** Throws if the options of a lock of one thread say that threads share it. */
function checkScope({ scope }) {
  if (scope === undefined) return
  throw new TypeError(
    "a lock of scope 'process' needs a name, or a single one a buffer or { shared: true }, by which threads find it: leave scope out for one thread",
  )
}

/** Whether the lock belongs to this process only. */
function isOfProcess({ engine, host }) {
  return engine === undefined && host === undefined
}

/** A name without a scope may be meant for all processes. */
function checkName({ name, scope, engine }, title) {
  if (name === undefined || scope !== undefined || engine !== undefined) return
  require('./process/one_of_many.js').warnOfName(title, name)
}

/** The lock of `kind` that `options` describe, wrapped by the kind's `over` if it has one. */
function openLock(kind, args, options) {
  const settings = readLockOptions(options, kind.bytes, kind.known)
  const { cancelError, defaults, diagnostics, engine, mayBlock } = settings
  const lock = openPlain(kind, args, settings)
  checkName(settings, kind.name)
  // Over an engine the lock has its observer already, shared by all of its objects.
  if (diagnostics !== undefined && engine === undefined) {
    loadSnapshot()
    require('./diagnostics/observe.js').observeSingle(lock, kind, settings)
  }
  return { lock: kind.over === undefined ? lock : kind.over(lock), cancelError, defaults, mayBlock }
}

/** For snapshot() of index.js: Node.js keeps what this folder has resolved, so the file may be gone by then. */
function loadSnapshot() {
  require('./diagnostics/process.js')
}

function openPlain(kind, args, settings) {
  const { engine, host } = settings
  if (isOfThread(settings)) {
    checkScope(settings)
    return configure(kind.local(...args), settings)
  }
  if (!isOfProcess(settings)) checkReach(kind, settings)
  if (kind.lent !== undefined && engine === undefined) return openLent(kind, settings)
  if (engine !== undefined) return require('./cluster/open.js').lockOver(settings, kind, args)
  const core = host === undefined ? new (kind.shared())(...args) : openOnHost(args, settings, kind)
  return share(configure(core, settings), settings)
}

/** A lock of several threads or processes, lent to one thread at a time. */
function openLent(kind, settings) {
  if (settings.host === undefined) return kind.lent(settings)
  return require('./host/mutexes.js').openHostMutex(kind.name, settings)
}

/** Applies the owner's settings to `lock`. */
function configure(lock, { cancelError, mayBlock }) {
  if (cancelError !== undefined) lock.cancelError = cancelError
  if (mayBlock !== lock.mayBlock) lock.mayBlock = mayBlock
  return lock
}

function share(core, { name, buffer, byteOffset, isStrict }) {
  if (isStrict) core.isStrict = true
  if (name !== undefined) core.shareByName(name)
  else core.shareIn(buffer ?? new SharedArrayBuffer(core.kind.bytes), byteOffset)
  return core
}

/** Throws if no wider scope has that kind. */
function checkReach(kind, settings) {
  require('./locks/reach.js').checkReach(kind.class, settings)
}

function openOnHost(args, settings, { isGate, name }) {
  if (isGate) return openGateOnHost(args, settings, name)
  const [start = 0] = args
  return require('./host/cores.js').hostCoreOf(name, start, settings)
}

function openGateOnHost(args, settings, name) {
  const { times } = settings
  if (times !== undefined) require('./core/hold_times.js').refuseHostTimes(name)
  return require('./host/gates.js').openHostGate(name, args, settings)
}

/** The key map that `settings` describe, of locks of `kind` that begin with `value`. */
function openKeyMap(kind, value, settings) {
  checkName(settings, `keyed ${kind.name}`)
  const watch = watchOf(settings, kind)
  if (isOfThread(settings)) {
    checkScope(settings)
    return openLocalKeyMap(kind, value, settings, watch)
  }
  if (kind.lent !== undefined && isOfProcess(settings)) {
    return require('./process/mutexes.js').openKeyedMutexes(kind, settings, watch)
  }
  checkReach(kind, settings)
  const map = openSharedKeyMap(kind, value, settings, watch)
  if (watch !== undefined) watch.over(map)
  return map
}

function openLocalKeyMap(kind, value, { mayBlock }, watch) {
  const make = () => kind.local(value)
  const isUsual = mayBlock === LocalLock.prototype.mayBlock
  if (isUsual && watch === undefined) return new KeyMap(kind.atRest ?? [], make)
  // A lock with its own settings must not be reused by other maps.
  const makeOwn = () => Object.assign(make(), { mayBlock })
  if (watch === undefined) return new KeyMap([], makeOwn)
  const map = new KeyMap([], () => watch.watches(makeOwn()))
  watch.over(map)
  return map
}

/** The observer of a keyed map, if it has diagnostics. */
function watchOf(settings, kind) {
  if (settings.diagnostics === undefined) return undefined
  loadSnapshot()
  return require('./diagnostics/keyed_observer.js').keyedObserver(settings, kind)
}

function openSharedKeyMap(kind, value, settings, watch) {
  const { engine, host, isStrict, mayBlock } = settings
  if (engine !== undefined) {
    return require('./cluster/open.js').keyMapOver(settings, kind.name, value ?? '', watch)
  }
  if (host !== undefined && kind.lent !== undefined) {
    return require('./host/mutexes.js').openHostMutexes(settings, watch)
  }
  if (host !== undefined) {
    const { hostKeyMapOf } = require('./host/cores.js')
    return hostKeyMapOf(kind.name, value ?? 0, settings, { isStrict, mayBlock }, undefined, watch)
  }
  return require('./process/shared_key_map.js').keyMapByName(kind, value, settings, watch)
}

module.exports = { openKeyMap, openLock }
