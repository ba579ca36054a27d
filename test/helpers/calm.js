'use strict'
// Tests of what happens within so many milliseconds, on a machine that may do something else for a second.

/** How far behind this process's own timers were at worst: so long everything may have stood still. */
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

/** What goes wrong each time has other causes. */
const mostRetries = 20

/**
 * it(), for tests that fail where this process stands still for `ms`: one that has failed, and has, is done once
 * more, hooks included. Whatever fails without is a failure.
 */
function calmIt(ms) {
  return (title, body) =>
    it(title, async function () {
      this.timeout(Math.max(this.timeout(), 30_000))
      const stalled = watchStalls()
      try {
        await body.call(this)
      } catch (error) {
        const retry = this.test.currentRetry()
        if (stalled() >= ms && retry < mostRetries) this.retries(retry + 1)
        throw error
      } finally {
        stalled()
      }
    })
}

module.exports = { calmIt, watchStalls }
