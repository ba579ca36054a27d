'use strict'
// Waits that an AbortSignal ends. An EventTarget removes a listener in O(n), which makes n waiters that share
// one signal quadratic. So every wait goes through here: a signal has one listener of ours while anything waits
// with it, and none otherwise.
//
// Not AbortSignal.any: what that makes stays with a signal that lives long.

/** What the waits of one signal have in common; `listen` gives it to each wait, which stops with it. */
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
      // A signal of another make may call back at once, or throw.
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

  /** The signal has removed its listener. A callback may stop others whose turn has not come. */
  #callBack() {
    this.#isAdded = false
    for (const callback of this.#callbacks) {
      this.#callbacks.delete(callback)
      try {
        callback()
      } catch (error) {
        // As an EventTarget does: one wait that cannot end must not hold up the others.
        process.nextTick(() => {
          throw error
        })
      }
    }
  }
}

const listenings = new WeakMap()

/** Calls back once when `signal` aborts, unless `listen(...).stop(callback)` comes first. */
function listen(signal, callback) {
  let listening = listenings.get(signal)
  if (listening === undefined) {
    listening = new Listening(signal)
    listenings.set(signal, listening)
  }
  listening.add(callback)
  return listening
}

/** A controller that aborts with the first of `signals` that does, until end(). */
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
