'use strict'
// Events for promises: one lets a single waiter through for each signal, the other lets everybody through
// while it is set. See src/auto_reset_event.h and src/manual_reset_event.h.
const { Core, kindOf } = require('./core.js')
const { lockError } = require('./errors.js')
const native = require('./load.js')
const { readWait } = require('./options.js')
const { isGranted, Waiter } = require('./waiters.js')

const clear = 0
const set = 2
const done = Promise.resolve()

class EventCore extends Core {
  static bytes = 8

  constructor(isSet) {
    super(isSet ? set : clear)
    this.idle = this.word
  }

  isSet() {
    return (this.read() & set) !== 0
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
    if (this.share === null) {
      const alone = `only this thread could set ${this.title()}, and it would wait for itself`
      throw lockError('ERR_LOCK_DEADLOCK', alone)
    }
    this.enterSync(1, limits)
  }

  timeoutError(timeout) {
    return lockError('ERR_LOCK_TIMEOUT', `${this.title()} was not set within ${timeout} ms`)
  }
}

class Passer extends Waiter {
  static value() {}
}

class AutoResetCore extends EventCore {
  takeAlone() {
    const was = this.word
    this.word = clear
    return was === set
  }

  signal() {
    if (this.words === null) this.word = set
    else this.dispatch(native.autoResetEventSignal(this.place))
  }
}
AutoResetCore.prototype.kind = kindOf('auto-reset event', 2, 'autoResetEvent', EventCore.bytes)

class ManualResetCore extends EventCore {
  takeAlone() {
    return this.word === set
  }

  set() {
    if (this.words === null) this.word = set
    else this.dispatch(native.manualResetEventSet(this.place))
  }

  reset() {
    if (this.words === null) this.word = clear
    else native.manualResetEventReset(this.place)
  }
}
ManualResetCore.prototype.kind = kindOf(
  'manual-reset event',
  3,
  'manualResetEvent',
  EventCore.bytes,
)

module.exports = { AutoResetCore, ManualResetCore }
