'use strict'
// Tests of deadlines in milliseconds, on a machine that may stall for a second.

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

/** A test that fails every time has another cause. */
const mostRetries = 20

/**
 * it(), for tests that may fail when this process stalls for `ms`: after a stall, a failed test
 * runs once more, hooks included. A failure without a stall counts. `watch` is called when the test
 * begins, and returns what says how long a stall there was since.
 */
function calmIt(ms, watch = watchStalls) {
  return (title, body) =>
    it(title, async function () {
      this.timeout(Math.max(this.timeout(), 30_000))
      const stalled = watch()
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
