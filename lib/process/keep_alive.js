'use strict'
// What the pending waits of this thread keep alive. test/model/keep_alive.pml checks this state machine.
//
//   nothing    no pending wait can be ended from outside of this thread
//   instance   such a wait is pending, but no other thread is there: the event loop may run empty
//   thread     such a wait is pending, and another thread or process may end it: the event loop goes on
//
//   nothing  -> instance, thread   the first such wait begins
//   instance -> thread             another thread has joined
//   thread   -> instance           the last other thread has left, and its completions are read
//   any      -> nothing            the last such wait has ended
//
// A thread that joins or leaves wakes this one, but
// - in `instance` a wake-up keeps no event loop alive, so this thread asks once more when its event loop has run empty;
// - one wake-up may bring completions and also mean that a thread has joined or left, so this thread asks after each.
const process = require('node:process')
const { isMainThread } = require('node:worker_threads')
const native = require('../addon/load.js')

const states = native.layout.keepAlive

class KeepAlive {
  #state = states.nothing
  /** How many waits can be ended from outside of this thread, and how many of them by another process. */
  #waits = 0
  #hostWaits = 0
  #ask = () => this.update()

  /** Such a wait, or the waits for one lock, began or ended. */
  count(change, isHost = false) {
    this.#waits += change
    if (isHost) this.#hostWaits += change
    if (isHost || this.#waits === (change > 0 ? 1 : 0)) this.update()
  }

  /** Keeps the event loop alive until `promise`, which a timer of this thread settles. */
  async during(promise) {
    this.count(+1, true)
    try {
      return await promise
    } finally {
      this.count(-1, true)
    }
  }

  /** A wait began or ended, or another thread joined or left. */
  update() {
    const state = this.#next()
    if (state === this.#state) return
    if (state === states.instance) process.on('beforeExit', this.#ask)
    else if (this.#state === states.instance) process.off('beforeExit', this.#ask)
    this.#state = state
    native.eventLoop.keepAlive(state)
  }

  /**
   * Another process may always come. To a worker another thread may, too: the main thread, or a worker that is still
   * starting. The main thread may end, because a worker that is still starting keeps it alive.
   */
  #next() {
    if (this.#waits === 0) return states.nothing
    const mayOthersCome =
      this.#hostWaits > 0 || !isMainThread || native.eventLoop.mayBeWoken() === 1
    return mayOthersCome ? states.thread : states.instance
  }
}

module.exports = { keepAlive: new KeepAlive() }
