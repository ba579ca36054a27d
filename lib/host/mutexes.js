'use strict'
// The mutexes of scope host in this thread: one per slot of a segment, however many objects share
// it.
const { LentMutex } = require('../core/lent_mutex.js')
const { checkAlike, checkHostTimes } = require('../core/hold_times.js')
const { lentKeyMap, mutexAt } = require('../process/mutexes.js')
const { placeInSlot } = require('../process/shares.js')
const { HostKeyMap, pinned } = require('./key_map.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { openSegment } = require('./segment.js')

const start = 0

function openHostMutex(kind, { host, isStrict, times }) {
  checkHostTimes(times, isStrict)
  const segment = openSegment(kind, start, host)
  const mutex = mutexAt(placeInSlot(segment), () => mutexIn(segment, LentMutex, times))
  checkAlike(mutex.lender.times, times, segment)
  if (kind !== mutex.kind) mutex.kind = kind
  const weak = new WeakRef(mutex)
  segment.mutexes = () => [weak.deref()].filter((one) => one !== undefined)
  if (isStrict) mutex.beStrict()
  return mutex
}

/** A mutex of class `Base` in `segment`. */
function mutexIn(segment, Base, times) {
  if (times === undefined) return new Base(new HostMutexLender(segment))
  return require('./timed_mutex.js').timedMutexIn(segment, Base, times)
}

class KeyMutex extends pinned(LentMutex) {
  shareByKey(segment, key) {
    super.shareByKey(segment, key)
    this.isPinned = true
  }

  enter(limits, Kind) {
    try {
      return super.enter(limits, Kind)
    } finally {
      this.reportIdle() // reportIdle() may have failed before
    }
  }
}

const HostMutexMap = lentKeyMap(HostKeyMap)
const keyMaps = new Map()

function openHostMutexes({ host, isStrict, times }, watch) {
  checkHostTimes(times, isStrict)
  const segment = openSegment('keyed mutex', start, host)
  let keyMap = keyMaps.get(segment)
  if (keyMap === undefined) {
    keyMap = new HostMutexMap(segment, () => mutexIn(segment, KeyMutex, times))
    keyMap.times = times
    keyMaps.set(segment, keyMap)
    segment.mutexes = () => keyMap.busy()
  }
  checkAlike(keyMap.times, times, segment)
  keyMap.isFor(isStrict, watch)
  return keyMap
}

module.exports = { openHostMutex, openHostMutexes }
