'use strict'
// What the cores of scope host have in common. Their words lie in a segment from the start, and each of their grants has
// a fencing token.
const native = require('../load.js')
const { dressed } = require('../core/releaser.js')
const { keepWith, shareSlot, unpin } = require('../process/shares.js')

const fence = Symbol('fence')

// One function for all releasers: each with a getter of its own would have a hidden class of its own.
const fencingToken = {
  configurable: true,
  enumerable: true,
  get() {
    return this[fence].token()
  },
}

/** The number of a grant of the lock at `place`, drawn when it is first asked for, while isGood(). */
class Fence {
  #place
  #isGood
  #token

  constructor(place, isGood) {
    this.#place = place
    this.#isGood = isGood
  }

  token() {
    if (this.#token === undefined && this.#isGood()) this.#token = native.host.fence(this.#place)
    return this.#token
  }
}

/** Cores of class `Base` in a segment. */
const inSegment = (Base) =>
  class extends Base {
    constructor(segment, ...rest) {
      super(...rest)
      this.segment = segment
      /** That of a key: whether this thread has its slot pinned. Else the slot may be that of another key. */
      this.isPinned = false
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

    isIdle() {
      return !this.isPinned
    }

    /** A pin lasts as long as this thread holds its lock or waits for it: one more would take the room of a key. */
    rest() {
      if (!this.isPinned || !super.isIdle() || !unpin(this)) return
      this.generation++
      this.home.drop(this)
    }

    enterLine(weight, limits, Kind) {
      try {
        if (this.segment.whyGone === undefined) return super.enterLine(weight, limits, Kind)
        return this.refuse(weight, this.goneError())
      } finally {
        if (this.home !== null) this.rest() // it may have failed
      }
    }

    dress(release, abandoned, isGood) {
      dressed(release, abandoned)
      release[fence] = new Fence(this.place, isGood)
      return Object.defineProperty(release, 'fencingToken', fencingToken)
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
