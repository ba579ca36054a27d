'use strict'
// Opens locks of scopes wider than the thread, and locks with diagnostics, by the settings that lock_options.js has read.
// The first lock of a scope loads the code of that scope.
//
// A mutex that several threads share is lent to one of them at a time (lib/core/lent_mutex.js). The other kinds are in
// `sharedLocks`: all threads use them at once. reach.js lists the wider scopes that lack a class.
const { lockError } = require('../core/errors.js')
const { localKeyMap } = require('../core/key_map.js')
const { readReachOptions } = require('./reach_options.js')

/** The classes of locks that several threads use at once, by the name of the kind. */
const sharedLocks = {
  'auto-reset event': () => require('../process/gates.js').SharedAutoResetEvent,
  barrier: () => require('../process/barrier.js').SharedBarrier,
  'condition variable': () => require('../process/condition.js').SharedCondition,
  'countdown latch': () => require('../process/gates.js').SharedLatch,
  'manual-reset event': () => require('../process/gates.js').SharedManualResetEvent,
  'read-write lock': () => require('../process/rw_lock.js').SharedRWLock,
  semaphore: () => require('../process/semaphore.js').SharedSemaphore,
}

const isLent = ({ name }) => sharedLocks[name] === undefined

function isOfThread({ engine, host, name, buffer, isShared }) {
  const isNamed = engine !== undefined || host !== undefined || name !== undefined
  return !isNamed && buffer === undefined && !isShared
}

/** Throws if a lock without a name, a buffer or an engine has a `scope`. */
function checkScope({ scope }) {
  if (scope === undefined) return
  throw new TypeError(
    "a lock of scope 'process' needs a name by which threads find it, or, without keys, a buffer or { shared: true }: leave scope out for one thread",
  )
}

function isOfProcess({ engine, host }) {
  return engine === undefined && host === undefined
}

/** Warns of a name without a scope in one of several processes, because the caller may mean all of them. */
function checkName({ name, scope, engine }, title) {
  if (name === undefined || scope !== undefined || engine !== undefined) return
  require('../process/one_of_many.js').warnOfName(title, name)
}

function openLock(kind, args, settings) {
  const lock = openPlain(kind, args, settings)
  checkName(settings, kind.name)
  if (settings.diagnostics !== undefined) {
    snapshots()
    require('../diagnostics/observe.js').observeSingle(lock, kind, settings)
  }
  return lock
}

/** The first lock with diagnostics loads it: when a program calls snapshot(), the package's files may have been removed. */
const snapshots = () => require('../diagnostics/process.js')

function openPlain(kind, args, settings) {
  const { engine, host } = settings
  if (isOfThread(settings)) {
    checkScope(settings)
    return kind.local(...args).configured(settings)
  }
  if (!isOfProcess(settings)) checkReach(kind, settings)
  if (isLent(kind) && engine === undefined) return openLent(kind, settings)
  if (engine !== undefined) return require('../cluster/open.js').lockOver(settings, kind, args)
  const lock =
    host === undefined ? new (sharedLocks[kind.name]())(...args) : openOnHost(args, settings, kind)
  return share(lock.configured(settings), settings, kind)
}

/** Makes a mutex of several threads or processes, which is lent to one thread at a time. */
function openLent({ name }, settings) {
  if (settings.host === undefined) {
    return require('../process/mutexes.js').openMutex(name, settings)
  }
  return require('../host/mutexes.js').openHostMutex(name, settings)
}

function share(lock, { name, buffer, byteOffset, isStrict }, { bytes }) {
  if (isStrict) lock.isStrict = true
  if (name !== undefined) lock.shareByName(name)
  else lock.shareIn(buffer ?? new SharedArrayBuffer(bytes), byteOffset, bytes)
  return lock
}

function checkReach(kind, settings) {
  require('./reach.js').checkReach(kind.class, settings)
}

function openOnHost(args, settings, { isGate, name }) {
  if (!isGate) {
    const [start = 0] = args
    return require('../host/locks.js').hostLockOf(name, start, settings)
  }
  if (settings.times !== undefined) {
    const message = `no ${name} has a maxHold or a minHold: no caller holds it`
    throw lockError('ERR_LOCK_UNSUPPORTED', message)
  }
  return require('../host/gates.js').openHostGate(name, args, settings)
}

/** Opens the key map that `settings` describe, for locks of `kind` that begin with `value`. */
function openKeyMap(kind, value, settings) {
  checkName(settings, `keyed ${kind.name}`)
  const watch = watchOf(settings, kind)
  if (isOfThread(settings)) {
    checkScope(settings)
    return localKeyMap(kind, value, settings, watch)
  }
  if (isLent(kind) && isOfProcess(settings)) {
    return require('../process/mutexes.js').openKeyedMutexes(kind, settings, watch)
  }
  checkReach(kind, settings)
  const map = openSharedKeyMap(kind, value, settings, watch)
  if (watch !== undefined) watch.over(map)
  return map
}

/** Makes the observer of a keyed map, if it has diagnostics. */
function watchOf(settings, kind) {
  if (settings.diagnostics === undefined) return undefined
  snapshots()
  return require('../diagnostics/keyed_observer.js').keyedObserver(settings, kind)
}

function openSharedKeyMap(kind, value, settings, watch) {
  const { engine, host, isStrict, mayBlock } = settings
  if (engine !== undefined) {
    return require('../cluster/open.js').keyMapOver(settings, kind.name, value ?? '', watch)
  }
  if (host !== undefined && isLent(kind)) {
    return require('../host/mutexes.js').openHostMutexes(settings, watch)
  }
  if (host !== undefined) {
    const { hostKeyMapOf } = require('../host/locks.js')
    return hostKeyMapOf(kind.name, value ?? 0, settings, { isStrict, mayBlock }, undefined, watch)
  }
  const Kind = sharedLocks[kind.name]()
  return require('../process/shared_key_map.js').keyMapByName(kind, Kind, value, settings, watch)
}

module.exports = {
  checkReach,
  openKeyMap,
  openLock,
  readOptions: readReachOptions,
  snapshot: () => snapshots().snapshot(),
}
