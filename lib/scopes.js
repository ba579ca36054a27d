'use strict'
// The scope of a lock is decided here, once, by the options of its constructor. What a wider scope needs is loaded
// when a lock of that scope is constructed.
//
// A kind of lock is { name, bytes, known, local, lent, shared, over, isOfProcess }. `known` are the names of its options,
// where it has more than others. `local(...args)` makes a lock of this thread. One that several threads share is
// `lent(settings)`, or has the core `shared(...args)`. None of a wider scope is there where it `isOfProcess`.
const { LocalLock } = require('./core/lock.js')
const { KeyMap } = require('./core/key_map.js')
const { readLockOptions, settle } = require('./lock_options.js')

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
  const opened = openPlain(kind, args, options)
  if (kind.over !== undefined) opened.lock = kind.over(opened.lock)
  return opened
}

function openPlain(kind, args, options) {
  const settings = readLockOptions(options, kind.bytes, kind.known)
  const { cancelError, mayBlock } = settings
  if (kind.local !== undefined && isOfThread(settings)) {
    const lock = kind.local(...args)
    if (cancelError !== undefined) lock.cancelError = cancelError
    if (mayBlock !== lock.mayBlock) lock.mayBlock = mayBlock
    if (settings.diagnostics !== undefined) {
      require('./diagnostics/observe.js').observeSingle(lock, kind, settings)
    }
    return { lock, cancelError, mayBlock }
  }
  if (kind.lent !== undefined && isOfProcess(settings)) {
    const lock = kind.lent(settings)
    if (settings.diagnostics !== undefined) {
      require('./diagnostics/observe.js').observeSingle(lock, kind, settings)
    }
    return { lock, cancelError, mayBlock }
  }
  checkReach(kind)
  return { lock: openShared(args, settings, kind), cancelError, mayBlock }
}

/** Of a wider scope than the process. */
function checkReach({ class: name, isOfProcess }) {
  if (!isOfProcess) return
  throw new TypeError(
    `a ${name} reaches no further than its process: there is none of scope 'host', nor over an engine`,
  )
}

function openShared(args, settings, kind) {
  const { engine, host } = settings
  if (engine !== undefined) return require('./cluster/lines.js').lineOver(settings, kind)
  const lock = host === undefined ? kind.shared(...args) : openOnHost(args, host, kind)
  settle(lock, settings)
  if (settings.diagnostics === undefined) return lock
  return require('./diagnostics/observe.js').observeSingle(lock, kind, settings)
}

function openOnHost([start = 0], host, { name }) {
  return require('./host/cores.js').hostCoreOf(name, start, host)
}

/** The key map that `settings` ask for, of locks of `kind`, which begin with `value`. */
function openKeyMap(kind, value, settings) {
  const { mayBlock } = settings
  const watch = watchOf(settings, kind)
  if (!isOfThread(settings)) return openSharedKeyMap(kind, value, settings, watch)
  const { mayBlock: usual } = LocalLock.prototype
  const make = () => kind.local(value)
  if (mayBlock === usual && watch === undefined) return new KeyMap(kind.atRest ?? [], make)
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

function openSharedKeyMap(lockKind, value = '', settings, watch) {
  const { name: kind, lent, shared } = lockKind
  if (lent !== undefined && settings.name !== undefined && isOfProcess(settings)) {
    return require('./process/mutexes.js').openKeyedMutexes(lockKind, settings, watch)
  }
  checkReach(lockKind)
  const { engine, host, name, isStrict, mayBlock } = settings
  const open = () => {
    if (engine !== undefined) {
      return require('./cluster/lines.js').homeOver(settings, kind, value, watch)
    }
    if (host !== undefined) {
      const { hostHomeOf } = require('./host/cores.js')
      const start = value === '' ? 0 : value
      return hostHomeOf(kind, start, host, { isStrict, mayBlock }, undefined, watch)
    }
    const begin = watch === undefined ? () => shared(value) : () => watch.watches(shared(value))
    const make = () => Object.assign(begin(), { isStrict, mayBlock })
    const { keyMapByName } = require('./process/shared_key_map.js')
    return keyMapByName(name, kind, `${value} ${isStrict} ${mayBlock} ${watch?.traits}`, make)
  }
  const home = open()
  if (watch !== undefined) watch.over(home)
  return home
}

module.exports = { openKeyMap, openLock }
