'use strict'
// A signal that aborts with another one, and when its time is up. Not AbortSignal.any: what that
// makes stays with a signal that lives long.

const { longestTimeout } = require('./options.js')

/**
 * Follows `signal` from now on, and the clock from start() on; `late()` makes the reason of the timeout.
 * end() lets go of both.
 */
function withDeadline(signal, timeout, late) {
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal.reason)
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
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
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

module.exports = { withDeadline }
