'use strict'
// What the cores of scope host have in common. Their words lie in a segment from the start, and each of their grants has
// a fencing token.
const { fenced } = require('./fence.js')
const { pinned } = require('./key_map.js')
const native = require('../load.js')
const { keepWith, shareSlot } = require('../process/shares.js')

/** Cores of class `Base` in a segment. */
const inSegment = (Base) =>
  class extends pinned(Base) {
    constructor(segment, ...rest) {
      super(...rest)
      this.segment = segment
    }

    shareByName(name) {
      this.name = name
      this.settleIn(() => shareSlot(this.segment))
      keepWith(this)
    }

    shareByKey(segment, key) {
      this.settleIn(() => shareSlot(segment, key))
      this.share.pins++
      this.isPinned = true
    }

    enterLine(weight, limits, Kind) {
      try {
        if (this.segment.whyGone === undefined) return super.enterLine(weight, limits, Kind)
        return this.refuse(weight, this.goneError())
      } finally {
        if (this.key !== undefined) this.rest() // it may have failed
      }
    }

    addToken(release, isGood) {
      return fenced(release, this.place, isGood)
    }

    snapshot() {
      return this.seen(native.host.look(this.place))
    }

    // Where its files were removed nothing is granted any more: a process that has come since may hold it.

    tryEnter(weight) {
      this.checkThere()
      return super.tryEnter(weight)
    }

    enterSync(weight, limits) {
      this.checkThere()
      return super.enterSync(weight, limits)
    }

    /** A thread that blocks is let go before its time, too. */
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
