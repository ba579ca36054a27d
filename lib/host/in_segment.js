'use strict'
// The part that all locks of scope host share. Their words lie in a segment from the start, and
// each of their grants has a fencing token.
const { fenced } = require('./fence.js')
const { pinned } = require('./key_map.js')
const { look } = require('./look.js')
const { keepWith, shareSlot } = require('../process/shares.js')

/** Locks of class `Base` in a segment. */
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

    // After its files were removed a lock grants nothing: processes that started later use other
    // files, and may hold the lock.

    tryEnter(weight) {
      this.checkThere()
      return super.tryEnter(weight)
    }

    enterSync(weight, limits) {
      this.checkThere()
      return super.enterSync(weight, limits)
    }

    /** A blocked thread returns early, too, when the files are removed. */
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
