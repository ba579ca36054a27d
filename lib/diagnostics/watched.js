'use strict'
// Cores that are watched: each class of cores has one that is derived from it, with the same steps, which tells a
// record (record.js) of those that matter. Cores that are not watched know nothing of it, and pay nothing.
//
// Events are published beside the steps, never between a call of C++ and the taking of its news: their subscribers
// run in the middle of it, and may use other locks.
const { MutexCore } = require('../mutex_core.js')
const { RWCore } = require('../rw_core.js')
const { SemaphoreCore } = require('../semaphore_core.js')
const { levels } = require('./levels.js')
const { register } = require('./registry.js')
const { fullyWatchedMutex, watchedMutex } = require('./watched_mutex.js')
const { fullyWatchedRW, watchedRW } = require('./watched_rw.js')
const { fullyWatchedSemaphore, watchedSemaphore } = require('./watched_semaphore.js')

const families = [
  [MutexCore, { [levels.counters]: watchedMutex, [levels.full]: fullyWatchedMutex }],
  [SemaphoreCore, { [levels.counters]: watchedSemaphore, [levels.full]: fullyWatchedSemaphore }],
  [RWCore, { [levels.counters]: watchedRW, [levels.full]: fullyWatchedRW }],
]

const made = { [levels.counters]: new Map(), [levels.full]: new Map() }

/** The class of cores that is derived from `Kind`, or undefined where there is nothing to watch. */
function watchedClass(Kind, level) {
  const known = made[level].get(Kind)
  if (known !== undefined) return known
  const family = families.find(([Base]) => Kind === Base || Kind.prototype instanceof Base)
  if (family === undefined) return undefined
  const Watched = family[1][level](Kind)
  made[level].set(Kind, Watched)
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
  const Watched = watchedClass(core.constructor, settings.level)
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
  if (diagnostics.isAsked) throw new TypeError(`there are no diagnostics of a ${name}`)
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
