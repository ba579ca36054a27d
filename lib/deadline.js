'use strict'
// A signal that aborts with another one, and when its time is up. Not AbortSignal.any: what that
// makes stays with a signal that lives long.

/** `late()` makes the reason of the timeout. end() lets go of the timer and of `signal`. */
function withDeadline(signal, timeout, late) {
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal.reason)
  if (signal !== undefined) {
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  }
  const timer = globalThis.setTimeout(() => controller.abort(late()), timeout)
  const end = () => {
    globalThis.clearTimeout(timer)
    if (signal !== undefined) signal.removeEventListener('abort', onAbort)
  }
  return { signal: controller.signal, end }
}

module.exports = { withDeadline }
