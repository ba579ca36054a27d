'use strict'
// Opens locks of scope host, and their key maps.
const { HostKeyMap } = require('./key_map.js')
const { mapIn } = require('../process/shared_key_map.js')
const { openSegment } = require('./segment.js')
const { HostRWLock } = require('./rw_lock.js')
const { HostSemaphore } = require('./semaphore.js')
const { checkAlike } = require('../core/hold_times.js')

const hostLocks = new Map([
  ['semaphore', HostSemaphore],
  ['read-write lock', HostRWLock],
])
/** The classes for locks with a maxHold or a minHold. */
const timedLocks = new Map([
  ['semaphore', () => require('./timed_semaphore.js').TimedSemaphore],
  ['read-write lock', () => require('./timed_rw_lock.js').TimedRWLock],
])

/**
 * Opens the segment for locks of the kind `name` whose words begin with `start`. Returns it with a function that makes
 * its locks.
 */
function onHost(name, start, host, times, segmentKind) {
  const Kind = times === undefined ? hostLocks.get(name) : timedLocks.get(name)()
  const segment = openSegment(segmentKind, start, host)
  if (segment.isTimed) checkAlike(segment.times, times, segment)
  segment.isTimed = true
  segment.times = times
  return { segment, make: () => new Kind(segment, start, times) }
}

/** Makes a single lock of that kind. shareByName() attaches it later. */
function hostLockOf(name, start, { host, times }) {
  return onHost(name, start, host, times, name).make()
}

const keyMaps = new Map()

/** Returns the key map that all objects of this thread with that name and the same `traits` share. */
function hostKeyMapOf(
  name,
  start,
  settings,
  traits,
  segmentKind = `keyed ${name}`,
  watch = undefined,
) {
  const { host, times } = settings
  const { segment, make } = onHost(name, start, host, times, segmentKind)
  const id = `${segment.number} ${JSON.stringify(traits)} ${watch?.traits}`
  return mapIn(keyMaps, id, () => {
    const begin = watch === undefined ? make : () => watch.watches(make())
    return new HostKeyMap(segment, () => Object.assign(begin(), traits))
  })
}

module.exports = { hostLockOf, hostKeyMapOf }
