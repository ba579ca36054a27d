'use strict'
const frames = 64

/** Throws a RangeError where the stack has no room for what must not fail later: before it begins. */
function checkStack(left = frames) {
  return left === 0 ? 0 : 1 + checkStack(left - 1)
}

module.exports = { checkStack }
