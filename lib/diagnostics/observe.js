'use strict'
// Gives a lock its observer.
const platform = require('../core/platform.js')
const observed = require('./observed.js')
const { refuseDiagnostics } = require('./levels.js')
const { MutexObserver } = require('./mutex_observer.js')
const { Observer } = require('./observer.js')
const { register } = require('./registry.js')
const { Trace } = require('./trace.js')

Object.assign(platform.observed, observed)

/** Gives `lock` an observer. `kind` is the name of its class. `map` is the observer of its map if the lock is for a key. */
function observe(lock, kind, scope, settings, map) {
  const isPlain = !settings.isFull && settings.warnAfter === undefined
  const isMutex = kind.endsWith('Mutex') && scope !== 'cluster'
  const Kind = isPlain && isMutex ? MutexObserver : Observer
  lock.observer = new Kind(lock, kind, scope, settings, map)
  return lock
}

const names = new Set(['mutex', 'recursive mutex', 'semaphore', 'read-write lock'])

const isObservable = ({ name }) => names.has(name)

/** Gives a lock without keys an observer, and adds it to snapshot(). Throws for kinds without diagnostics. */
function observeSingle(lock, kind, settings) {
  const { diagnostics } = settings
  if (!isObservable(kind)) {
    refuseDiagnostics(diagnostics, `this ${kind.name}`)
    return
  }
  // All objects of this thread for one lock share its observer.
  lock.observer ??= lock.shared?.observer?.deref() ?? null
  if (lock.observer !== null) return
  const { observer } = observe(lock, kind.class, scopeOf(settings), diagnostics)
  if (observer.isFull && observer.name === undefined) observer.madeAt = new Trace().text
  // A weak reference, because the shared state lives until the last of its objects is collected.
  if (lock.shared !== null) lock.shared.observer = new WeakRef(observer)
  register(observer)
}

/** Returns the scope for reports, where a lock of one thread has scope 'process'. */
function scopeOf({ engine, host }) {
  if (engine !== undefined) return 'cluster'
  return host === undefined ? 'process' : 'host'
}

module.exports = { isObservable, observe, observeSingle, scopeOf }
