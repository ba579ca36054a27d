'use strict'
// Waits that an AbortSignal can end. An EventTarget removes a listener in O(n), so n waiters that
// share one signal would cost O(n^2). This module therefore keeps one listener per signal while any
// waiter uses it, and none otherwise.
//
// AbortSignal.any would not do: the signals it makes stay referenced by a long-lived source.

/** The waits of one signal. `listen` returns it to each wait, which calls stop() on it. */
class Listening {
  #signal
  #callbacks = new Set()
  #isAdded = false
  #onAbort = () => this.#callBack()

  constructor(signal) {
    this.#signal = signal
  }

  add(callback) {
    this.#callbacks.add(callback)
    if (this.#isAdded) return
    this.#isAdded = true
    try {
      // A custom signal may call back at once, or throw.
      this.#signal.addEventListener('abort', this.#onAbort, { once: true })
    } catch (error) {
      this.#callbacks.delete(callback)
      this.#isAdded = false
      throw error
    }
  }

  stop(callback) {
    this.#callbacks.delete(callback)
    if (this.#callbacks.size > 0 || !this.#isAdded) return
    this.#isAdded = false
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  /**
   * Called on abort; the signal has removed its listener. A callback may stop waits that are not
   * called yet.
   */
  #callBack() {
    this.#isAdded = false
    for (const callback of this.#callbacks) {
      this.#callbacks.delete(callback)
      try {
        callback()
      } catch (error) {
        // As an EventTarget does: a wait whose callback throws must not hold up the others.
        process.nextTick(() => {
          throw error
        })
      }
    }
  }
}

const listenings = new WeakMap()

/** Calls `callback` once when `signal` aborts, unless `listen(...).stop(callback)` comes first. */
function listen(signal, callback) {
  let listening = listenings.get(signal)
  if (listening === undefined) {
    listening = new Listening(signal)
    listenings.set(signal, listening)
  }
  listening.add(callback)
  return listening
}

/** A controller that aborts with the first of `signals` to abort, until end(). */
function following(signals) {
  const controller = new AbortController()
  const ends = []
  for (const signal of signals) {
    const onAbort = () => controller.abort(signal.reason)
    if (signal.aborted) {
      onAbort()
    } else {
      const listening = listen(signal, onAbort)
      ends.push(() => listening.stop(onAbort))
    }
  }
  return {
    controller,
    end() {
      for (const end of ends) end()
    },
  }
}

module.exports = { following, listen }
