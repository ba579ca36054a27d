'use strict'
// The mutexes of scope host in this thread: one for each slot of a segment, which all objects of its name share.
const { commonMap } = require('../core/common_map.js')
const { LentMutex } = require('../core/lent_mutex.js')
const { lockError } = require('../core/errors.js')
const { mutexAt } = require('../process/mutexes.js')
const { commonMapOf } = require('../process/shared_key_map.js')
const { indexOfSlot } = require('../process/shares.js')
const { HostKeyMap, pinned } = require('./key_map.js')
const { HostMutexLender } = require('./mutex_lender.js')
const { openSegment } = require('./segment.js')

const start = 0

/** Throws if a mutex with `fairness: 'fifo'` has hold times. */
function checkTimes(times, isStrict) {
  if (times === undefined || !isStrict) return
  throw lockError(
    'ERR_LOCK_UNSUPPORTED',
    "fairness: 'fifo' is not for a mutex of scope 'host' with maxHold or minHold: give it an engine",
  )
}

function openHostMutex(kind, { host, isStrict, times }) {
  checkTimes(times, isStrict)
  const segment = openSegment(kind, start, host, times)
  const mutex = mutexAt(indexOfSlot(segment), () => mutexIn(segment, LentMutex), segment)
  if (kind !== mutex.kind) mutex.kind = kind
  const weak = new WeakRef(mutex)
  segment.mutexes = () => [weak.deref()].filter((one) => one !== undefined)
  if (isStrict) mutex.beStrict()
  return mutex
}

function mutexIn(segment, Base) {
  if (segment.times === undefined) return new Base(new HostMutexLender(segment))
  return require('./timed_mutex.js').timedMutexIn(segment, Base)
}

class KeyMutex extends pinned(LentMutex) {
  shareByKey(segment, key) {
    super.shareByKey(segment, key)
    this.isPinned = true
  }

  /** Returns early while this thread holds the lock, because every grant calls this. */
  reportIdle() {
    if (!this.isHere()) super.reportIdle()
  }

  enter(limits, Kind) {
    try {
      return super.enter(limits, Kind)
    } finally {
      this.reportIdle() // reportIdle() may have failed before
    }
  }
}

const HostMutexMap = commonMap(HostKeyMap)

function openHostMutexes({ host, isStrict, times }, watch) {
  checkTimes(times, isStrict)
  const segment = openSegment('keyed mutex', start, host, times)
  const keyMap = commonMapOf(`host ${segment.number}`, () => {
    const made = new HostMutexMap(segment, () => mutexIn(segment, KeyMutex))
    segment.mutexes = () => made.busy()
    return made
  })
  keyMap.isFor(isStrict, watch)
  return keyMap
}

module.exports = { openHostMutex, openHostMutexes }
