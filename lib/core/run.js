'use strict'
// Runs a callback between the grant of a lock and its release.
const { checkCallback } = require('./options.js')
const { checkStack } = require('./stack.js')

/**
 * Resolves to callback(releaser) for the releaser that `grant` resolves to; to undefined if there
 * is none. `key` is that of a keyed lock, `options` the argument after the callback.
 */
async function run(callback, grant, key, options) {
  checkCallback(callback, key, options)
  const release = await grant()
  if (release === undefined) return undefined
  try {
    return await callback(release)
  } finally {
    release()
  }
}

/** The same for a thread that blocks. */
function runSync(callback, grant, key) {
  checkCallback(callback, key)
  checkStack()
  const release = grant()
  try {
    return callback(release)
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
