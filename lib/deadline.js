'use strict'
// A signal that aborts with another one, and when its time is up. Not AbortSignal.any: what that
// makes stays with a signal that lives long.

/**
 * `late()` makes the reason of the timeout, which begins with start(). end() lets go of the timer and
 * of `signal`.
 */
function withDeadline(signal, timeout, late) {
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal.reason)
  if (signal?.aborted) onAbort()
  let timer
  return {
    signal: controller.signal,
    start() {
      if (signal !== undefined) signal.addEventListener('abort', onAbort, { once: true })
      timer = globalThis.setTimeout(() => controller.abort(late()), timeout)
    },
    end() {
      globalThis.clearTimeout(timer)
      if (signal !== undefined) signal.removeEventListener('abort', onAbort)
    },
  }
}

module.exports = { withDeadline }
