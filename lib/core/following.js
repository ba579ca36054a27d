'use strict'
// AbortControllers that follow signals, and the clock.
const { abort, listen, reasonOf } = require('./abort.js')
const { longestTimeout } = require('./options.js')

/** A controller that aborts with the first of `signals`, or of those that add() is given, to abort, until end(). */
function following(signals) {
  const controller = new AbortController()
  const ends = []
  const add = (signal) => {
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
 * Follows `signal` from now on, and the clock from start() on; `late()` makes the reason of the timeout.
 * end() lets go of both.
 */
function withDeadline(signal, timeout, late) {
  const { controller, end } = following(signal === undefined ? [] : [signal])
  let clear = () => {}
  return {
    signal: controller.signal,
    /** Starts the timeout: it aborts after `left` ms, which may be 0 or less. */
    start(left = timeout) {
      // Given a longer timeout, setTimeout would fire after 1 ms.
      if (left > longestTimeout) return
      // A replaced clock may be replaced again before the end.
      const { clearTimeout, setTimeout } = globalThis
      const timer = setTimeout(() => abort(controller, late()), Math.max(0, left))
      clear = () => clearTimeout(timer)
    },
    end() {
      clear()
      end()
    },
  }
}

module.exports = { following, withDeadline }
