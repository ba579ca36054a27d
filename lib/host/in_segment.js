'use strict'
// What all locks of scope host except mutexes have in common: their words lie in a segment, and their grants have
// fencing tokens.
const { fenced } = require('./fence.js')
const { pinned } = require('./key_map.js')
const { look } = require('./look.js')
const { keepWith, shareSlot } = require('../process/shares.js')

/** Derives from `Base` a lock in a segment. */
const inSegment = (Base) =>
  class extends pinned(Base) {
    constructor(segment, ...rest) {
      super(...rest)
      this.segment = segment
    }

    get scope() {
      return 'host'
    }

    shareByName(name) {
      this.name = name
      this.attach(() => shareSlot(this.segment))
      keepWith(this)
    }

    shareByKey(segment, key) {
      this.attach(() => shareSlot(segment, key))
      this.shared.pins++
      this.isPinned = true
    }

    enterQueue(weight, limits, Kind) {
      try {
        if (this.segment.whyGone === undefined) return super.enterQueue(weight, limits, Kind)
        return this.refuse(weight, this.goneError())
      } finally {
        if (this.key !== undefined) this.reportIdle() // reportIdle() may have failed before
      }
    }

    addToken(release, isGood) {
      return fenced(release, this.wordIndex, isGood)
    }

    snapshot() {
      return this.seen(look(this.wordIndex))
    }

    // Once its files have been removed a lock grants nothing more, because processes that start later use new files and
    // may hold the lock there.

    tryEnter(weight) {
      this.checkThere()
      return super.tryEnter(weight)
    }

    enterSync(weight, limits) {
      this.checkThere()
      return super.enterSync(weight, limits)
    }

    /** When the files are removed, C++ wakes blocked threads as if they had timed out. */
    timeoutError(timeout, waiter) {
      return this.segment.isGone() ? this.goneError() : super.timeoutError(timeout, waiter)
    }

    checkThere() {
      if (this.segment.whyGone !== undefined) throw this.goneError()
    }

    goneError() {
      return this.segment.goneError(this.title())
    }
  }

module.exports = { inSegment }
