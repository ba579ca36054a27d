'use strict'
// AbortControllers that abort with other signals, or when a time has passed.
const { abort, callSafely, listen, reasonOf } = require('./abort.js')
const { longestTimeout } = require('./options.js')

/**
 * Returns a controller that aborts when the first of `signals` does; each may be undefined. add(signal) adds one, and
 * end() stops following.
 */
function following(signals) {
  const controller = new AbortController()
  const ends = []
  const add = (signal) => {
    if (signal === undefined) return
    const onAbort = () => abort(controller, reasonOf(signal))
    if (signal.aborted) {
      onAbort()
    } else {
      const listening = listen(signal, onAbort)
      ends.push(() => listening.stop(onAbort))
    }
  }
  for (const signal of signals) add(signal)
  return {
    controller,
    add,
    end() {
      for (const end of ends) end()
    },
  }
}

/**
 * Returns a signal that aborts with `signal`, or with the error of `late()` once `timeout` ms have passed since
 * start(). end() drops the listener and the timer. Without a timeout it is `signal` itself.
 */
function withDeadline(signal, timeout, late) {
  if (timeout === undefined) return { signal, start() {}, end() {} }
  const { controller, end } = following([signal])
  let clear = () => {}
  return {
    signal: controller.signal,
    /** Starts the timer of `left` ms, which may be 0 or less. */
    start(left = timeout) {
      // setTimeout() fires after 1 ms if its delay is longer than this.
      if (left > longestTimeout) return
      // A replaced clock may be replaced again before the end.
      const { clearTimeout, setTimeout } = globalThis
      const timer = setTimeout(() => abort(controller, late()), Math.max(0, left))
      clear = () => callSafely(clearTimeout, timer)
    },
    end() {
      clear()
      end()
    },
  }
}

module.exports = { following, withDeadline }
