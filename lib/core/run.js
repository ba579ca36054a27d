'use strict'
// Runs a callback between the grant of a lock and its release.
const { atOnce, checkCallback } = require('./options.js')
const { checkStack } = require('./stack.js')

const whole = (release) => release

/**
 * Resolves to callback(releaser) for the releaser that `grant` resolves to; to undefined if there
 * is none. `key` is that of a keyed lock, `options` the argument after the callback. `told` makes what the callback gets of
 * the releaser.
 */
async function run(callback, grant, key, options, told = whole) {
  checkCallback(callback, key, options)
  const release = await grant()
  if (release === undefined) return undefined
  try {
    return await callback(told(release))
  } finally {
    release()
  }
}

/** Runs the callback on a thread that blocks for the lock. */
function runSync(callback, grant, key, told = whole) {
  checkCallback(callback, key)
  checkStack()
  const release = grant()
  try {
    return atOnce(callback(told(release)))
  } finally {
    release()
  }
}

/**
 * Resolves to { ran: true, value } for the value of `callback`, or to { ran: false, value: undefined } where the lock is
 * not available now. `runNow(callback)` is runExclusive() or runShared() with ifAvailable.
 */
async function tryRun(callback, runNow, key) {
  checkCallback(callback, key)
  let ran = false
  const value = await runNow((...grant) => {
    ran = true
    return callback(...grant)
  })
  return { ran, value }
}

const now = Object.freeze({ ifAvailable: true })

module.exports = { now, run, runSync, tryRun }
