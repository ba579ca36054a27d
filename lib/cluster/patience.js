'use strict'
// Timeouts for answers of a server. If the event loop was blocked, an answer may have arrived unread when the time is
// up. So the turn of the loop in which a timeout fires first reads answers.
const { clearImmediate, setImmediate } = require('../core/builtins.js')
const { processClock } = require('./clock.js')

/** The delay before a failed command is repeated, in milliseconds. */
const pause = 100

/** The longest time that a waiter has to confirm a grant that was handed to it, in milliseconds. */
const longestClaim = 1000

/**
 * Calls `giveUp` after `time` ms, unless the returned function is called earlier. Keeps the process alive meanwhile,
 * unless `isToStay` is false.
 */
function startPatience(time, giveUp, { isToStay = true, clock = processClock } = {}) {
  let late
  const timer = clock.setTimeout(() => {
    late = setImmediate(giveUp)
  }, time)
  if (!isToStay) timer.unref()
  return () => {
    clock.clearTimeout(timer)
    clearImmediate(late)
  }
}

/**
 * Settles as the promise `doing`, or rejects with makeError() after `time` ms. A server that does not answer does not
 * keep the process alive, unless the options of startPatience() say so.
 */
async function inTime(doing, time, makeError = () => noAnswer(time), options = {}) {
  let endPatience
  const late = new Promise((_, reject) => {
    endPatience = startPatience(time, () => reject(makeError()), { isToStay: false, ...options })
  })
  try {
    return await Promise.race([doing, late])
  } finally {
    endPatience()
  }
}

const noAnswer = (time) => new Error(`there was no answer within ${Math.round(time)} ms`)

module.exports = { inTime, longestClaim, noAnswer, pause, startPatience }
