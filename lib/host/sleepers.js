'use strict'
// Callers that wait, each with its own timer, until the minHold of a dead holder is over.
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

/** A queue in the sense of waiter.js. */
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
