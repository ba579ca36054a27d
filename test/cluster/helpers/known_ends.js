'use strict'
// When a holder's time is over by its own clock. A process that stands still at that moment may read the next holder's
// grant before it runs the timer that aborts its signal; its code that would run at that moment would know.
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { now, readUntil, safely } = require('../../../lib/cluster/clock.js')
const { startThread } = require('../../../lib/cluster/keeper.js')

/** The `outside` of a hub (hub.js), and when its latest session is over: { outside, sessionEnd() }. */
function knownSession() {
  let until
  const outside = {
    startThread(...how) {
      const thread = startThread(...how)
      const post = thread.postMessage.bind(thread)
      thread.postMessage = (message) => {
        if (message.buffer !== undefined) until = new BigInt64Array(message.buffer)
        post(message)
      }
      return thread
    },
  }
  return { outside, sessionEnd: () => readUntil(until) }
}

/** Notes the end of the latest lease that `driver` was answered: { driver, leaseEnd() }. */
function knownLease(driver) {
  let end
  const enter = driver.enter.bind(driver)
  driver.enter = async (request) => {
    const sent = now()
    const answer = await enter(request)
    if (answer.state === 'held') end = sent + safely(request.maxHold)
    return answer
  }
  return { driver, leaseEnd: () => end }
}

/** At the moment when the next holder is admitted: the `signal` of the one before has aborted, or aborts as of `end`. */
async function assertOver(signal, end) {
  const late = now() - end
  if (signal.aborted) return
  assert.ok(late >= 0, `admitted ${-late} ms before the end of the holder before`)
  await once(signal, 'abort')
}

module.exports = { assertOver, knownLease, knownSession }
