'use strict'
// A read-write lock over an engine: all readers of this thread share one lease of one unit, a writer has all units.
const { readWait } = require('../options.js')
const { RWCore } = require('../rw_core.js')
const { notSync } = require('./errors.js')
const { LineCore } = require('./local_line.js')

/** More agents than ever read at once. */
const all = 2 ** 20
const read = Object.freeze({ units: 1, cost: 1, isShared: true, isToWait: true })
const write = Object.freeze({ units: all, cost: 1, isShared: false, isToWait: true })

class RWLine extends LineCore {
  constructor(traits) {
    super(new RWCore(), { ...traits, capacity: all })
    /** Those who wait and those who are in, for whoever wants to see them. */
    this.callers = new Set()
  }

  enter({ units }, limits) {
    return units === all ? this.local.acquireWrite(limits) : this.local.acquireRead(limits)
  }

  leaveLine({ units }, release) {
    const others = units === all ? 0 : this.local.readers() - 1
    release()
    return this.local.isWritten() ? 1 : this.local.readers() - others
  }

  acquireRead(options) {
    return this.#acquire(read, readWait(options))
  }

  acquireWrite(options) {
    return this.#acquire(write, readWait(options))
  }

  async #acquire(wish, limits) {
    const caller = { isWriter: wish === write, isIn: false }
    this.callers.add(caller)
    let hold
    try {
      hold = await super.acquire(wish, limits)
    } catch (error) {
      this.callers.delete(caller)
      throw error
    }
    caller.isIn = true
    hold.onEnd = () => this.callers.delete(caller)
    const release = this.releaser(hold)
    const method = wish === read ? 'upgrade' : 'downgrade'
    release[method] = () => {
      const other = wish === read ? 'writing' : 'reading'
      throw new TypeError(`${method}() is not there with an engine: let go, and lock for ${other}`)
    }
    return release
  }

  readers() {
    return this.local.readers()
  }

  isWritten() {
    return this.local.isWritten()
  }

  snapshot() {
    return { readers: this.readers(), written: this.isWritten(), waiting: this.queueSize() }
  }

  tryAcquireRead() {
    notSync('tryAcquireRead', 'acquireRead(key, { timeout: 0 })')
  }

  tryAcquireWrite() {
    notSync('tryAcquireWrite', 'acquireWrite(key, { timeout: 0 })')
  }

  acquireReadSync() {
    notSync('acquireReadSync', 'acquireRead()')
  }

  acquireWriteSync() {
    notSync('acquireWriteSync', 'acquireWrite()')
  }
}

module.exports = { RWLine }
