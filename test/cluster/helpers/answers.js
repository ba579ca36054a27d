'use strict'
// How long a server takes to answer, for calmIt(): leases of some hundred milliseconds end if the server stalls, too.
const { watchStalls } = require('../../helpers/calm.js')

/** When each command without an answer was sent. */
const unanswered = new Set()
let slowest = 0

function answered(sent) {
  unanswered.delete(sent)
  slowest = Math.max(slowest, performance.now() - sent.at)
}

/** Notes how long the commands of `driver` take. */
function noteAnswers(driver) {
  for (const name of ['enter', 'confirm', 'leave']) {
    if (driver[name] === undefined) continue
    const send = driver[name].bind(driver)
    driver[name] = async (request) => {
      const sent = { at: performance.now() }
      unanswered.add(sent)
      try {
        return await send(request)
      } finally {
        answered(sent)
      }
    }
  }
  return driver
}

/** The largest delay of this process, or of an answer, from now on. */
function watchAnswers() {
  const stalled = watchStalls()
  const start = performance.now()
  slowest = 0
  return () => {
    const now = performance.now()
    const waits = Array.from(unanswered, ({ at }) => now - Math.max(at, start))
    return Math.max(stalled(), slowest, ...waits)
  }
}

module.exports = { noteAnswers, watchAnswers }
