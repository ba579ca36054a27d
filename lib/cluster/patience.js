'use strict'
// How long a server is waited for. Where the event loop was blocked, its answer may lie there unread: the turn of the
// loop in which that time ends reads it first.
const { clearImmediate, clearTimeout, setImmediate, setTimeout } = require('node:timers')

/** How long to wait before a command that has failed is repeated. */
const pause = 100

/**
 * Calls `giveUp` after `time` ms, unless what this returns has been called by then. The process stays alive until then,
 * unless `isToStay` is false.
 */
function startPatience(time, giveUp, isToStay = true) {
  let late
  const timer = setTimeout(() => {
    late = setImmediate(giveUp)
  }, time)
  if (!isToStay) timer.unref()
  return () => {
    clearTimeout(timer)
    clearImmediate(late)
  }
}

/**
 * What `doing` promises, or the error that `makeError()` makes after `time` ms. A server that says nothing does not keep
 * the process alive.
 */
async function inTime(doing, time, makeError = () => noAnswer(time)) {
  let endPatience
  const late = new Promise((_, reject) => {
    endPatience = startPatience(time, () => reject(makeError()), false)
  })
  try {
    return await Promise.race([doing, late])
  } finally {
    endPatience()
  }
}

const noAnswer = (time) => new Error(`there was no answer within ${time} ms`)

module.exports = { inTime, noAnswer, pause, startPatience }
