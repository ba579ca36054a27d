'use strict'
// A signal that aborts with another signal, or when a timeout runs out.
const { abort, following } = require('./abort.js')
const { longestTimeout } = require('./options.js')

/**
 * Follows `signal` from now on, and the clock from start() on; `late()` makes the reason of the timeout.
 * end() lets go of both.
 */
function withDeadline(signal, timeout, late) {
  const { controller, end } = following(signal === undefined ? [] : [signal])
  let clear = () => {}
  return {
    signal: controller.signal,
    start() {
      // Given a longer timeout, setTimeout would fire after 1 ms.
      if (timeout > longestTimeout) return
      // A replaced clock may be replaced again before the end.
      const { clearTimeout, setTimeout } = globalThis
      const timer = setTimeout(() => abort(controller, late()), timeout)
      clear = () => clearTimeout(timer)
    },
    end() {
      clear()
      end()
    },
  }
}

module.exports = { withDeadline }
