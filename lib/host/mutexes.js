'use strict'
// The mutexes of scope host, in this thread: one for each slot of a segment, whatever number of objects stands for it.
const { LentMutex } = require('../core/lent_mutex.js')
const { lentKeyMap, mutexAt } = require('../process/mutexes.js')
const { placeInSlot } = require('../process/shares.js')
const { HostKeyMap, pinned } = require('./key_map.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { openSegment } = require('./segment.js')

const start = 0

function openHostMutex(kind, { host, isStrict }) {
  const segment = openSegment(kind, start, host)
  const make = () => new LentMutex(new HostMutexLender(segment))
  const mutex = mutexAt(placeInSlot(segment), make)
  if (kind !== mutex.kind) mutex.kind = kind
  const weak = new WeakRef(mutex)
  segment.mutexes = () => [weak.deref()].filter((one) => one !== undefined)
  if (isStrict) mutex.beStrict()
  return mutex
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
      this.rest() // it may have failed
    }
  }
}

const HostMutexMap = lentKeyMap(HostKeyMap)
const keyMaps = new Map()

function openHostMutexes({ host, isStrict }, watch) {
  const segment = openSegment('keyed mutex', start, host)
  let keyMap = keyMaps.get(segment)
  if (keyMap === undefined) {
    keyMap = new HostMutexMap(segment, () => new KeyMutex(new HostMutexLender(segment)))
    keyMaps.set(segment, keyMap)
    segment.mutexes = () => keyMap.busy()
  }
  keyMap.isFor(isStrict, watch)
  return keyMap
}

module.exports = { openHostMutex, openHostMutexes }
