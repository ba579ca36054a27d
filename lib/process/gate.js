'use strict'
// The base of events and latches that threads share.
const { SharedLock } = require('./shared_lock.js')
const { readWait } = require('../core/options.js')
const { isGranted, Waiter } = require('./waiters.js')

class SharedGate extends SharedLock {
  tryWait() {
    return isGranted(this.tryEnter(1))
  }

  wait(options) {
    return this.enterQueue(1, readWait(options), Passer)
  }

  /** Blocks this thread. */
  waitSync(limits) {
    if (!this.tryWait()) this.enterSync(1, limits)
  }
}

class Passer extends Waiter {
  static value() {}
}

module.exports = { SharedGate }
