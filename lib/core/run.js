'use strict'
// Runs a callback between the grant of a lock and its release.
const { atOnce, checkCallback } = require('./options.js')
const { checkStack } = require('./stack.js')

const whole = (release) => release

/**
 * Resolves to the result of `callback`, which runs while the lock is held; to undefined if grant() gives nothing. grant()
 * gives a releaser, of which the callback gets told(releaser), or a semaphore's ticket, of which it gets both parts. `key`
 * is that of a keyed lock, `options` the argument after the callback.
 */
async function run(callback, grant, key, options, told = whole) {
  checkCallback(callback, key, options)
  const given = await grant()
  if (given === undefined) return undefined
  try {
    return await call(callback, given, told)
  } finally {
    releaserOf(given)()
  }
}

/** Runs the callback on a thread that blocks for the lock. */
function runSync(callback, grant, key, told = whole) {
  checkCallback(callback, key)
  checkStack()
  const given = grant()
  try {
    return atOnce(call(callback, given, told))
  } finally {
    releaserOf(given)()
  }
}

const call = (callback, given, told) =>
  Array.isArray(given) ? callback(given[0], given[1]) : callback(told(given))

/** The releaser that a semaphore's ticket holds, or `given` itself. */
const releaserOf = (given) => (Array.isArray(given) ? given[1] : given)

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

module.exports = { now, releaserOf, run, runSync, tryRun }
