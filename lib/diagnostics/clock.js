'use strict'
// The time, in milliseconds since the epoch.
const { nextTick, now: passed, queueMicrotask, timeOrigin } = require('../core/builtins.js')

const now = () => timeOrigin + passed()

/** How long ago `time` is: never negative, whatever the rounding. */
const ago = (time) => Math.max(0, now() - time)

/** The time of this callback of the event loop, or 0 before the first reading. */
let turn = 0

/** Also called by a thread that is about to block: time passes before it goes on. */
const endTurn = () => {
  turn = 0
}

/** Microtasks all run before the next tick that one of them makes. */
const endSoon = () => nextTick(endTurn)

/**
 * A time in this callback of the event loop, not after the present. Acquiring a free lock takes less time than reading the
 * clock, so one callback, with all promises that it settles, has one reading.
 */
function turnTime() {
  if (turn !== 0) return turn
  // An Immediate would keep the event loop alive. With unref() it would run only after the event loop has been idle.
  queueMicrotask(endSoon)
  turn = now()
  return turn
}

module.exports = { ago, endTurn, now, turnTime }
