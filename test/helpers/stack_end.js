'use strict'
// Calls within a few frames of the end of the stack.
const assert = require('node:assert/strict')

/**
 * More frames than the end of the stack needs until a call succeeds, including one that must be
 * compiled.
 */
const mostFrames = 2000
/** By how many arguments the frames are shifted: altogether less than the size of a frame. */
const paddings = [0, 2, 4, 6, 8, 10, 12, 14]
/** Calls to begin with: the compiler takes more of the stack than a call does. */
const warmUps = 20

/** Calls `state.act()` in the frame that is `state.up` frames before the end of the stack. */
function dive(state) {
  try {
    dive(state)
  } catch (error) {
    if (state.up-- > 0) throw error
    try {
      state.value = state.act()
    } catch (error) {
      state.error = error
    }
  }
}

/** The value of `act`, or the RangeError that it threw or rejected with. */
async function callAt(up, padding, act) {
  const state = { up, act, value: undefined, error: undefined }
  const pad = (..._) => dive(state)
  pad(...new Array(padding))
  try {
    return { value: await state.value, error: state.error }
  } catch (error) {
    return { value: undefined, error }
  }
}

/**
 * Calls `act` at each depth near the end of the stack, up to the depth where it succeeds: after
 * `prepare`, and before `check`, which gets its value or the RangeError. Both get the result of
 * `prepare`.
 */
async function atEachDepth(prepare, act, check) {
  const attempt = async (up, padding) => {
    const it = await prepare()
    const outcome = await callAt(up, padding, () => act(it))
    const { error } = outcome
    if (error !== undefined && !isStackEnd(error)) throw error
    await check(it, outcome)
    return error === undefined
  }
  for (let i = 0; i < warmUps; i++) await attempt(mostFrames, 0)
  for (const padding of paddings) {
    let up = 0
    while (!(await attempt(up, padding))) {
      up++
      assert.ok(up < mostFrames, 'no call has succeeded')
    }
  }
}

const isStackEnd = (error) => error instanceof RangeError && error.code === undefined

/** For a describe: mocha makes traces of the whole stack. */
function withoutTraces() {
  const { stackTraceLimit } = Error
  before(() => {
    Error.stackTraceLimit = 0
  })
  after(() => {
    Error.stackTraceLimit = stackTraceLimit
  })
}

module.exports = { atEachDepth, withoutTraces }
