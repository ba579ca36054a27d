'use strict'
// The time, in milliseconds since the epoch.
const { nextTick, now: passed, queueMicrotask, timeOrigin } = require('../core/builtins.js')

const now = () => timeOrigin + passed()

/** Returns how long ago `time` is. Never negative, in spite of rounding. */
const ago = (time) => Math.max(0, now() - time)

/** The time of the current callback of the event loop, or 0 before the first reading. */
let turn = 0

/** Forgets the time. Also called around blocking calls, during which time passes. */
const endTurn = () => {
  turn = 0
}

/** A next tick that a microtask requests runs after all other microtasks. */
const endSoon = () => nextTick(endTurn)

/**
 * Returns a time within the current callback of the event loop. Reading the clock takes longer than acquiring a free
 * lock, so each callback, with all promises that it settles, reads it once.
 */
function turnTime() {
  if (turn !== 0) return turn
  // An Immediate would keep the event loop alive, and with unref() would run only after the event loop has been idle.
  queueMicrotask(endSoon)
  turn = now()
  return turn
}

module.exports = { ago, endTurn, now, turnTime }
