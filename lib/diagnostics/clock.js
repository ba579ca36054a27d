'use strict'
// The time, in milliseconds since the epoch. Taken at load: users fake clocks.
const { performance } = require('node:perf_hooks')
const { setImmediate } = require('node:timers')

const passed = performance.now.bind(performance)
const start = performance.timeOrigin

const now = () => start + passed()

/** How long ago `time` is: never less than nothing, by whatever rounding. */
const ago = (time) => Math.max(0, now() - time)

/** The time that this turn of the event loop goes by, or 0 before anybody has asked for it. */
let turn = 0

/** Also for a thread that is about to block: what comes after that is later. */
const endTurn = () => {
  turn = 0
}

/**
 * A time in this turn of the event loop, not after the present. A lock that is free is taken in less time than it
 * takes to read the clock, so that all of a turn have one reading.
 */
function turnTime() {
  if (turn !== 0) return turn
  setImmediate(endTurn).unref()
  turn = now()
  return turn
}

module.exports = { ago, endTurn, now, turnTime }
