'use strict'
// Calls within a few frames of the end of the stack, on an object for each.
const assert = require('node:assert/strict')

/** More frames than the end of the stack needs until a call succeeds; or the second number, where V8 has made them small. */
const mostTries = [500, 4000]
/** By how many arguments the frames are shifted: altogether less than the size of a frame. */
const paddings = 16

/** Calls `act` on one object after the other, from the end of the stack on, until a call succeeds. */
function dive(state) {
  try {
    dive(state)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    if (state.tried === state.all.length) return
    const one = state.all[state.tried++]
    state.act(one)
    one.isDone = true
  }
}

/** The results of `make` that `act` was called on, at each depth near the end of the stack. */
function atTheEnd(make, act) {
  // Compile first, because the compiler takes more of the stack than the call.
  for (let i = 0; i < 10; i++) act(make())
  const tried = []
  const diveWith = (padding, length) => {
    const state = { all: Array.from({ length }, make), tried: 0, act }
    const pad = (..._) => dive(state)
    pad(...new Array(padding))
    for (const one of state.all.slice(0, state.tried)) tried.push(one)
    return state.all[state.tried - 1].isDone
  }
  for (let padding = 0; padding < paddings; padding++) {
    const isDone = mostTries.some((length) => diveWith(padding, length))
    assert.ok(isDone, 'no call has succeeded')
  }
  return tried
}

module.exports = { atTheEnd }
