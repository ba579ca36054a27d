'use strict'
// Cores that are watched: each class of cores has one that is derived from it, with the same steps, which tells a
// record (record.js) of those that matter. Cores that are not watched know nothing of it, and pay nothing.
//
// Events are published beside the steps, never between a call of C++ and the taking of its completions: their subscribers
// run in the middle of it, and may use other locks.
const { MutexCore } = require('../process/mutex_core.js')
const { RWCore } = require('../process/rw_core.js')
const { SemaphoreCore } = require('../process/semaphore_core.js')
const { levels, refuseDiagnostics } = require('./levels.js')
const { register } = require('./registry.js')
const { deepMutex, fullyWatchedMutex, watchedMutex } = require('./watched_mutex.js')
const { fullyWatchedRW, watchedRW } = require('./watched_rw.js')
const { fullyWatchedSemaphore, watchedSemaphore } = require('./watched_semaphore.js')

const families = [
  [MutexCore, { plain: watchedMutex, deep: deepMutex, full: fullyWatchedMutex }],
  [SemaphoreCore, { plain: watchedSemaphore, deep: watchedSemaphore, full: fullyWatchedSemaphore }],
  [RWCore, { plain: watchedRW, deep: watchedRW, full: fullyWatchedRW }],
]

const made = { plain: new Map(), deep: new Map(), full: new Map() }

/** How much is done for each hold. */
function depthOf({ level, warnAfter }) {
  if (level === levels.full) return 'full'
  return warnAfter === undefined ? 'plain' : 'deep'
}

/** The class of cores that is derived from `Kind`, or undefined where there is nothing to watch. */
function watchedClass(Kind, depth) {
  const known = made[depth].get(Kind)
  if (known !== undefined) return known
  const family = families.find(([Base]) => Kind === Base || Kind.prototype instanceof Base)
  if (family === undefined) return undefined
  const Watched = family[1][depth](Kind)
  made[depth].set(Kind, Watched)
  return Watched
}

const names = {
  mutex: 'Mutex',
  'recursive mutex': 'RecursiveMutex',
  semaphore: 'Semaphore',
  'read-write lock': 'RWLock',
}

/** One like `core`, which nobody has used yet, that is watched; undefined where there is nothing to see. */
function watchedLike(core, kind, scope, settings, tally) {
  const Watched = watchedClass(core.constructor, depthOf(settings))
  if (Watched === undefined) return undefined
  return new Watched(...core.beginnings()).observe(kind, scope, settings, tally)
}

/**
 * In place of the core of a single lock. One of which there is nothing to see stays as it is, unless somebody has
 * asked for it.
 */
function watched(core, { diagnostics, host }) {
  const { name } = core.kind
  const scope = host === undefined ? 'process' : 'host'
  const instead = watchedLike(core, names[name], scope, diagnostics)
  if (instead !== undefined) return instead
  refuseDiagnostics(diagnostics, `this ${name}`)
  return core
}

/** `core`, which knows by now who else has the lock, is a part of pictures of the process. */
function shown(core) {
  const { record } = core
  if (record !== undefined && !record.isShown) {
    record.isShown = true
    register(record)
  }
  return core
}

module.exports = { names, shown, watched, watchedLike }
