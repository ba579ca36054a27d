'use strict'
// Not AbortSignal.any: what that makes stays with a signal that lives long.

/** A controller that aborts with the first of `signals` that does, until end(). */
function following(signals) {
  const controller = new AbortController()
  const ends = []
  for (const signal of signals) {
    const onAbort = () => controller.abort(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    ends.push(() => signal.removeEventListener('abort', onAbort))
  }
  return {
    controller,
    end() {
      for (const end of ends) end()
    },
  }
}

module.exports = { following }
