'use strict'
// Callers that wait for the end of a dead holder's rest, each by a timer.
const { clearTimeout, setTimeout } = require('../core/builtins.js')
const { UnobservedWaiter } = require('../core/waiter.js')

class Sleeper extends UnobservedWaiter {
  timer = undefined

  constructor(resolve, limits, time) {
    super(resolve, limits)
    this.time = time
  }

  end() {
    clearTimeout(this.timer)
    super.end()
  }
}

/** A queue of waiter.js. */
class Sleepers {
  #lock
  #all = new Set()

  constructor(lock) {
    this.#lock = lock
  }

  enqueue(sleeper) {
    this.#all.add(sleeper)
    sleeper.timer = setTimeout(() => {
      this.#all.delete(sleeper)
      sleeper.end()
      sleeper.resolve()
    }, sleeper.time)
  }

  leave(sleeper, reason) {
    this.#all.delete(sleeper)
    sleeper.giveUp(reason)
  }

  endAll(reason) {
    for (const sleeper of this.#all) this.leave(sleeper, reason)
  }

  timeoutError(timeout) {
    return this.#lock.timeoutError(timeout)
  }
}

module.exports = { Sleeper, Sleepers }
