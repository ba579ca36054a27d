'use strict'
// Waits that an AbortSignal can end. An EventTarget removes a listener in O(n), so n waiters that
// share one signal would cost O(n^2). This module therefore keeps one listener per signal while any
// waiter uses it, and none otherwise.
//
// AbortSignal.any would not do: the signals it makes stay referenced by a long-lived source.
const platform = require('./platform.js')

/**
 * Without addAbortListener() another listener may stop the event before ours gets it. These options make that less
 * likely.
 */
const first = { capture: true, once: true }

/**
 * Calls `callback` when `signal` aborts, even if another listener stops the event. Returns a function that removes the
 * listener.
 */
function addListener(signal, callback) {
  const { addAbortListener } = platform
  if (addAbortListener !== undefined) {
    const listener = addAbortListener(signal, callback)
    // In a vm context Symbol.dispose is not the symbol of Node.js's own realm, and may be missing.
    const [dispose] = Object.getOwnPropertySymbols(listener)
    return () => listener[dispose]()
  }
  signal.addEventListener('abort', callback, first)
  return () => signal.removeEventListener('abort', callback, first)
}

/** The reasons of aborted signals that have no `reason`, as in older runtimes and polyfills. */
const reasons = new WeakMap()

/** The reason of `signal`, which has aborted: the same object each time. */
function reasonOf(signal) {
  const { reason } = signal
  if (reason !== undefined) return reason
  if (!reasons.has(signal)) reasons.set(signal, abortError())
  return reasons.get(signal)
}

/** Stands in for a DOMException where a runtime has none. */
class AbortError extends Error {
  name = 'AbortError'
}

function abortError() {
  const { DOMException = AbortError } = globalThis
  return new DOMException('This operation was aborted', 'AbortError')
}

/** Aborts with `reason`, and stores it for reasonOf(), because some polyfills of AbortController drop it. */
function abort(controller, reason) {
  if (controller.signal.aborted) return
  reasons.set(controller.signal, reason)
  controller.abort(reason)
}

function throwIfAborted(signal) {
  if (signal?.aborted) throw reasonOf(signal)
}

/** Throws `error` as an uncaught exception, outside of the caller. */
function throwLater(error) {
  queueMicrotask(() => {
    throw error
  })
}

/**
 * Calls `call`. An error of a custom signal or a replaced clock must not cost this caller, or other waiters, their
 * grant.
 */
function callSafely(call, argument) {
  try {
    call(argument)
  } catch (error) {
    throwLater(error)
  }
}

/** The waits that use one signal. listen() returns it to each wait, which ends by calling stop(). */
class Listening {
  #signal
  #callbacks = new Set()
  #isAdded = false
  #remove
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
      this.#remove = addListener(this.#signal, this.#onAbort)
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
    callSafely(this.#remove)
  }

  /**
   * Called on abort, after the signal has removed its listener. A callback may stop waits whose callbacks are still to
   * come.
   */
  #callBack() {
    this.#isAdded = false
    for (const callback of this.#callbacks) {
      this.#callbacks.delete(callback)
      // As an EventTarget does: a wait whose callback throws must not hold up the others.
      callSafely(callback)
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

module.exports = { abort, callSafely, listen, reasonOf, throwIfAborted, throwLater }
