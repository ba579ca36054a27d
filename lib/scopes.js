'use strict'
// The scope of a lock is decided here, once, by the options of its constructor. What a wider scope needs is loaded
// when a lock of that scope is constructed.
//
// A kind of lock is { name, bytes, known, local, lent, shared, over }. `known` are the names of its options,
// where it has more than others. `local(...args)` makes a lock of this thread. One that several threads share is
// `lent(settings)` (of a keyed map: of the class lent()), or has a core of the class shared().
// ./reach.js says which wider scopes do not have it.
const { LocalLock } = require('./core/lock.js')
const { KeyMap } = require('./core/key_map.js')
const { readLockOptions } = require('./lock_options.js')

/** Whether no other thread can ever know the lock. */
function isOfThread({ engine, host, name, buffer, isShared }) {
  const isNamed = engine !== undefined || host !== undefined || name !== undefined
  return !isNamed && buffer === undefined && !isShared
}

/** Whether the lock is of this process, and of no other. */
function isOfProcess({ engine, host }) {
  return engine === undefined && host === undefined
}

/** What `options` ask for: a lock of `kind`, or what that kind is over such a lock. */
function openLock(kind, args, options) {
  const settings = readLockOptions(options, kind.bytes, kind.known)
  const { cancelError, defaults, diagnostics, engine, mayBlock } = settings
  const lock = openPlain(kind, args, settings)
  // Over an engine all objects that stand for a lock have its observer already.
  if (diagnostics !== undefined && engine === undefined) {
    require('./diagnostics/observe.js').observeSingle(lock, kind, settings)
  }
  return { lock: kind.over === undefined ? lock : kind.over(lock), cancelError, defaults, mayBlock }
}

function openPlain(kind, args, settings) {
  const { engine, host } = settings
  if (isOfThread(settings)) return configure(kind.local(...args), settings)
  if (!isOfProcess(settings)) checkReach(kind, settings)
  if (kind.lent !== undefined && engine === undefined) return openLent(kind, settings)
  if (engine !== undefined) return require('./cluster/open.js').lockOver(settings, kind, args)
  const core = host === undefined ? new (kind.shared())(...args) : openOnHost(args, settings, kind)
  return share(configure(core, settings), settings)
}

/** A lock of several threads or processes that is lent to one thread at a time. */
function openLent(kind, settings) {
  if (settings.host === undefined) return kind.lent(settings)
  return require('./host/mutexes.js').openHostMutex(kind.name, settings)
}

/** Makes `lock` what its owner has asked for. */
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

/** Throws where no wider scope has that kind. */
function checkReach(kind, settings) {
  require('./reach.js').checkReach(kind.class, settings)
}

function openOnHost([start = 0], { host, times }, { name }) {
  refuseTimes(times, name)
  return require('./host/cores.js').hostCoreOf(name, start, host)
}

/** Of scope 'host', where only mutexes have them. */
function refuseTimes(times, kindName) {
  if (times !== undefined) require('./locks/hold_times.js').checkHostTimes(times, kindName)
}

/** The key map that `settings` ask for, of locks of `kind`, which begin with `value`. */
function openKeyMap(kind, value, settings) {
  const watch = watchOf(settings, kind)
  if (isOfThread(settings)) return openLocalKeyMap(kind, value, settings, watch)
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
  // A lock that is not as usual is not for other maps.
  const makeOwn = () => Object.assign(make(), { mayBlock })
  if (watch === undefined) return new KeyMap([], makeOwn)
  const map = new KeyMap([], () => watch.watches(makeOwn()))
  watch.over(map)
  return map
}

/** What watches a keyed map, if anything. */
function watchOf(settings, kind) {
  if (settings.diagnostics === undefined) return undefined
  return require('./diagnostics/keyed_observer.js').keyedObserver(settings, kind)
}

function openSharedKeyMap(kind, value, settings, watch) {
  const { engine, host, isStrict, mayBlock, times } = settings
  if (engine !== undefined) {
    return require('./cluster/open.js').keyMapOver(settings, kind.name, value ?? '', watch)
  }
  if (host !== undefined && kind.lent !== undefined) {
    return require('./host/mutexes.js').openHostMutexes(settings, watch)
  }
  if (host !== undefined) {
    refuseTimes(times, kind.name)
    const { hostKeyMapOf } = require('./host/cores.js')
    return hostKeyMapOf(kind.name, value ?? 0, host, { isStrict, mayBlock }, undefined, watch)
  }
  return require('./process/shared_key_map.js').keyMapByName(kind, value, settings, watch)
}

module.exports = { openKeyMap, openLock }
