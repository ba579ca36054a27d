'use strict'
// What all locks of scope host except mutexes have in common: their words lie in a segment, and their grants have
// fencing tokens.
const { fenced } = require('./fence.js')
const { pinned } = require('./key_map.js')
const { look } = require('./look.js')
const { indexOfSlot, keepWith } = require('../process/shares.js')
const { untilIdle } = require('./timed_hold.js')

/** Derives from `Base`, a lock of threads, a lock of scope host, whose functions in C++ are `functions`. */
function inSegment(Base, functions) {
  class HostLock extends pinned(Base) {
    constructor(segment, ...rest) {
      super(...rest)
      this.segment = segment
    }

    get scope() {
      return 'host'
    }

    shareByName(name) {
      this.name = name
      this.attach(() => indexOfSlot(this.segment))
      keepWith(this)
    }

    shareByKey(segment, key) {
      this.attach(() => indexOfSlot(segment, key))
      this.shared.pins++
      this.isPinned = true
    }

    attach(findIndex) {
      super.attach(findIndex)
      this.shared.isHost = true
      this.shared.segment = this.segment
    }

    onIdle() {
      return untilIdle(super.onIdle(), this.segment.times)
    }

    addToken(release, isGood) {
      return fenced(release, this.wordIndex, isGood)
    }

    snapshot() {
      return this.seen(look(this.wordIndex))
    }

    /**
     * Once its files have been removed a lock grants nothing more, because processes that start later use new files and
     * may hold the lock there.
     */
    refusal(signal) {
      return this.segment.whyGone === undefined ? super.refusal(signal) : this.goneError()
    }

    /** When the files are removed, C++ wakes blocked threads as if they had timed out. */
    timeoutError(timeout, waiter) {
      return this.segment.isGone() ? this.goneError() : super.timeoutError(timeout, waiter)
    }

    goneError() {
      return this.segment.goneError(this.title())
    }
  }
  HostLock.prototype.kind = { name: Base.prototype.kind.name, native: functions }
  return HostLock
}

module.exports = { inSegment }
