'use strict'
// Callers that wait, each with its own timer, until the minHold of a dead holder is over.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { LocalLock } = require('../core/lock.js')
const { longestTimeout } = require('../core/options.js')
const { Waiter } = require('../core/waiter.js')

class Sleeper extends Waiter {
  constructor(resolve, limits, time, sleepers) {
    super(resolve, limits)
    this.timer = setTimeout(() => {
      sleepers.dequeue(this)
      this.end()
      resolve()
    }, time)
  }

  end() {
    clearTimeout(this.timer)
    super.end()
  }
}

/** The queue of the sleepers. Time ends their waits, not a release. */
class Sleepers extends LocalLock {
  #lock

  constructor(lock) {
    super()
    this.#lock = lock
  }

  sleep(time, limits) {
    return this.queueUp(1, limits, Sleeper, Math.min(Math.ceil(time), longestTimeout))
  }

  timeoutError(timeout) {
    return this.#lock.timeoutError(timeout)
  }

  /** Does nothing: a sleeper that leaves lets no other one go. */
  admit() {}
}

module.exports = { Sleepers }
