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
  let timer
  return {
    signal: controller.signal,
    start() {
      // Given a longer timeout, setTimeout would fire after 1 ms.
      if (timeout > longestTimeout) return
      timer = globalThis.setTimeout(() => abort(controller, late()), timeout)
    },
    end() {
      globalThis.clearTimeout(timer)
      end()
    },
  }
}

module.exports = { withDeadline }
