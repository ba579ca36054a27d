'use strict'
// How long this machine stalled, for oracles of the time between a death and the next admission.

/** The largest delay of this process's own timers: it may have stalled for so long. */
function watchStalls() {
  let last = performance.now()
  let worst = 0
  const look = () => {
    const now = performance.now()
    worst = Math.max(worst, now - last - 10)
    last = now
  }
  const timer = setInterval(look, 10).unref()
  return () => {
    clearInterval(timer)
    look()
    return worst
  }
}

module.exports = { watchStalls }
