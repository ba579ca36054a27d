'use strict'
// What lets waiters through, be it one for each signal or all of them from some moment on.
const { Core } = require('./core.js')
const { lockError } = require('../core/errors.js')
const { readWait } = require('../core/options.js')
const { isGranted, Waiter } = require('./waiters.js')

const done = Promise.resolve()

/** Classes derived from it say takeAlone(): through now, where no other thread knows of it and nobody waits. */
class GateCore extends Core {
  static bytes = 8

  constructor(word) {
    super(word)
    this.idle = word
  }

  tryWait() {
    if (this.words === null) return this.takeAlone()
    return isGranted(this.tryEnter(1))
  }

  wait(options) {
    if (options === undefined && this.words === null && this.takeAlone()) return done
    return this.enterLine(1, readWait(options), Passer)
  }

  /** Blocks this thread. */
  waitSync(limits) {
    if (this.tryWait()) return
    if (this.share === null) throw this.waitsForItself()
    this.enterSync(1, limits)
  }

  waitsForItself() {
    const alone = `only this thread could end a wait for ${this.title()}, and it would wait for itself`
    return lockError('ERR_LOCK_DEADLOCK', alone)
  }
}

class Passer extends Waiter {
  static value() {}
}

module.exports = { GateCore }
