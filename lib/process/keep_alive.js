'use strict'
// Whether the pending waits of this thread keep its event loop alive. A wait counts if another thread or process could
// end it. test/model/keep_alive.pml checks this state machine.
//
//   nothing    no such wait is pending
//   instance   such a wait is pending, but no other thread exists: the event loop may run empty
//   thread     such a wait is pending, and another thread or process may end it: the event loop stays alive
//
//   nothing  -> instance, thread   the first such wait begins
//   instance -> thread             another thread has joined
//   thread   -> instance           the last other thread has left, and its completions are read
//   any      -> nothing            the last such wait has ended
//
// A thread that joins or leaves wakes this one, which then calls update(). But
// - in `instance` a wake-up does not keep the event loop alive, so update() also runs when the loop has run empty;
// - one wake-up may bring completions and also mean that a thread has joined or left, so update() runs after each.
const { isMainThread } = require('node:worker_threads')
const native = require('../addon/load.js')
const { whenEmpty } = require('../core/pending.js')

const states = native.layout.keepAlive

class KeepAlive {
  #state = states.nothing
  /** How many pending waits another thread or process could end, and how many of them another process. */
  #waits = 0
  #hostWaits = 0
  #onEmpty = () => this.update()
  #isListening = false

  /** Counts a wait, or all waits of this thread for one lock, when it begins or ends. */
  count(change, isHost = false) {
    this.#waits += change
    if (isHost) this.#hostWaits += change
    if (isHost || this.#waits === (change > 0 ? 1 : 0)) this.update()
  }

  /** Keeps the event loop alive until `promise` settles, by a timer that alone would not. */
  async during(promise) {
    this.count(+1, true)
    try {
      return await promise
    } finally {
      this.count(-1, true)
    }
  }

  /** Called when a wait begins or ends, and when another thread joins or leaves. */
  update() {
    const state = this.#next()
    if (state === this.#state) return
    this.#state = state
    native.eventLoop.keepAlive(state)
    if (state === states.instance) this.#listen()
  }

  #listen() {
    if (this.#isListening) return
    this.#isListening = true
    whenEmpty(this.#onEmpty)
  }

  /**
   * Returns the new state. Another process may start at any time. A worker always has another thread: the main thread,
   * or a worker that is still starting. The main thread may end if it knows no other thread, because a worker that is
   * still starting keeps it alive.
   */
  #next() {
    if (this.#waits === 0) return states.nothing
    const mayOthersCome =
      this.#hostWaits > 0 || !isMainThread || native.eventLoop.mayBeWoken() === 1
    return mayOthersCome ? states.thread : states.instance
  }
}

module.exports = { keepAlive: new KeepAlive() }
