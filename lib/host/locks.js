'use strict'
// Opens locks of scope host, and their key maps.
const { HostKeyMap } = require('./key_map.js')
const { commonMapOf } = require('../process/shared_key_map.js')
const { openSegment } = require('./segment.js')
const { HostRWLock, HostSemaphore } = require('./shared_locks.js')

/** The classes by the name of the kind. Those with a maxHold or a minHold are loaded with the first such lock. */
const hostLocks = {
  semaphore: () => HostSemaphore,
  'read-write lock': () => HostRWLock,
}
const timedLocks = {
  semaphore: () => require('./timed_semaphore.js').TimedSemaphore,
  'read-write lock': () => require('./timed_rw_lock.js').TimedRWLock,
}

/**
 * Opens the segment for locks of the kind `name` whose words begin with `start`. Returns it with a function that makes
 * its locks.
 */
function onHost(name, start, { host, times }, segmentKind) {
  const segment = openSegment(segmentKind, start, host, times)
  const Kind = (times === undefined ? hostLocks : timedLocks)[name]()
  return { segment, make: () => new Kind(segment, start) }
}

/** Makes a single lock of that kind. shareByName() attaches it later. */
const hostLockOf = (name, start, settings) => onHost(name, start, settings, name).make()

/** Returns the key map that all objects of this thread with that name and the same `traits` share. */
function hostKeyMapOf(name, start, settings, traits, segmentKind = `keyed ${name}`, watch) {
  const { segment, make } = onHost(name, start, settings, segmentKind)
  const id = `host ${segment.number} ${JSON.stringify(traits)} ${watch?.traits}`
  return commonMapOf(id, () => {
    const begin = watch === undefined ? make : () => watch.watches(make())
    return new HostKeyMap(segment, () => Object.assign(begin(), traits))
  })
}

module.exports = { hostLockOf, hostKeyMapOf }
