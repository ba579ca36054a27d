'use strict'
// The time, in milliseconds since the epoch.
const { now: passed, setImmediate, timeOrigin } = require('../core/builtins.js')

const now = () => timeOrigin + passed()

/** How long ago `time` is: never negative, whatever the rounding. */
const ago = (time) => Math.max(0, now() - time)

/** The time of this turn of the event loop, or 0 before the first reading. */
let turn = 0

/** Also called by a thread that is about to block: time passes before it goes on. */
const endTurn = () => {
  turn = 0
}

/**
 * A time in this turn of the event loop, not after the present. Acquiring a free lock takes less time than reading the
 * clock, so one turn has one reading.
 */
function turnTime() {
  if (turn !== 0) return turn
  // With unref(), the event loop would first be idle until something else happens, all in this turn.
  setImmediate(endTurn)
  turn = now()
  return turn
}

module.exports = { ago, endTurn, now, turnTime }
