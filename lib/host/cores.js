'use strict'
// Opens the cores of scope host, and their key maps.
const { HostKeyMap } = require('./key_map.js')
const { mapIn } = require('../process/shared_key_map.js')
const { openSegment } = require('./segment.js')
const { HostRWCore } = require('./rw_core.js')
const { HostSemaphoreCore } = require('./semaphore_core.js')
const { checkAlike } = require('../core/hold_times.js')

const hostCores = new Map([
  ['semaphore', HostSemaphoreCore],
  ['read-write lock', HostRWCore],
])
/** The same with a maxHold or a minHold. */
const timedCores = new Map([
  ['semaphore', () => require('./timed_semaphore.js').TimedSemaphoreCore],
  ['read-write lock', () => require('./timed_rw_lock.js').TimedRWCore],
])

/**
 * The segment for locks of a kind whose words begin with `start`, and a function that makes its
 * cores.
 */
function onHost(name, start, host, times, segmentKind) {
  const Kind = times === undefined ? hostCores.get(name) : timedCores.get(name)()
  const segment = openSegment(segmentKind, start, host)
  if (segment.isTimed) checkAlike(segment.times, times, segment)
  segment.isTimed = true
  segment.times = times
  return { segment, make: () => new Kind(segment, start, times) }
}

/** The host core of a single lock of that kind; attach() gives it its name. */
function hostCoreOf(name, start, { host, times }) {
  return onHost(name, start, host, times, name).make()
}

const keyMaps = new Map()

/** The key map shared by all objects of this thread with that name and the same `traits`. */
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

module.exports = { hostCoreOf, hostKeyMapOf }
