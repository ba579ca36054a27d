'use strict'
// Runs a callback between the grant of a lock and its release.
const { checkCallback } = require('./options.js')
const platform = require('./platform.js')
const { checkStack } = require('./stack.js')

const whole = (release) => release

/**
 * Waits for `grant()`, calls the callback, then releases. Resolves to the callback's result, or to undefined without a
 * grant. `grant()` resolves to a releaser, whose told(releaser) the callback gets, or to the ticket of a semaphore, both
 * parts of which it gets. For checks, `key` is the argument before the callback and `options` the one after it.
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

/** As run(), but grant() blocks this thread. */
function runSync(callback, grant, key, told = whole) {
  checkCallback(callback, key)
  checkStack()
  const given = grant()
  try {
    return platform.atOnce(call(callback, given, told))
  } finally {
    releaserOf(given)()
  }
}

const call = (callback, given, told) =>
  Array.isArray(given) ? callback(given[0], given[1]) : callback(told(given))

/** Returns the releaser of a ticket, or `given` if that is a releaser. */
const releaserOf = (given) => (Array.isArray(given) ? given[1] : given)

/**
 * Resolves to { ran: true, value } with the result of `callback`, or to { ran: false, value: undefined } if the lock is
 * not available. `runNow(callback)` is runExclusive() or runShared() with ifAvailable.
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
