'use strict'
// A signal that aborts with another one, and when its time is up.
const { listen } = require('./abort.js')
const { longestTimeout } = require('./options.js')

/**
 * Follows `signal` from now on, and the clock from start() on; `late()` makes the reason of the timeout.
 * end() lets go of both.
 */
function withDeadline(signal, timeout, late) {
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal.reason)
  let listening
  if (signal?.aborted) onAbort()
  else if (signal !== undefined) listening = listen(signal, onAbort)
  let timer
  return {
    signal: controller.signal,
    start() {
      // setTimeout would make 1 ms of it.
      if (timeout > longestTimeout) return
      timer = globalThis.setTimeout(() => controller.abort(late()), timeout)
    },
    end() {
      globalThis.clearTimeout(timer)
      listening?.stop(onAbort)
    },
  }
}

module.exports = { withDeadline }
