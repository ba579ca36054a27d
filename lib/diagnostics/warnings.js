'use strict'
// The warnings of long and leaked holds, and of failed diagnostics.
const { threadId } = require('node:worker_threads')
const { textIn } = require('../core/sites.js')
const { warn } = require('../core/warn.js')
const { isBundled } = require('../addon/bundle_advice.js')

/** Warns that `hold` has already lasted for `heldFor` ms. */
function longHold(hold, heldFor) {
  const held = `has been held for ${Math.round(heldFor)} ms by ${thisThread()}`
  warnOf(hold, 'BOXOFFICE_LONG_HOLD', `${hold.lock.title()} ${held}`)
}

/** Warns that the releaser of `hold` was collected before it was called. */
function leaked(hold) {
  const lost = `a releaser of ${hold.lock.title()} was collected as garbage before it was called`
  warnOf(hold, 'BOXOFFICE_LEAKED_RELEASER', `${lost}: what it holds stays locked`)
}

/** The observers that have failed: each is reported once. */
const failures = new WeakSet()

/** Warns that a method of `observer` has thrown `error`. */
function failed(observer, error) {
  if (failures.has(observer)) return
  failures.add(observer)
  const what = `the diagnostics of ${observer.lock.title()}`
  warnOfFailure(`${what} have failed and may be wrong from now on: ${error}`, error)
}

/** Warns that the search for deadlocks has thrown `error`. The locks keep working. */
function searchFailed(error) {
  warnOfFailure(`the search for deadlocks has failed and may miss some: ${error}`, error)
}

function warnOfFailure(message, error) {
  const detail = textIn(Object(error))
  warn('BOXOFFICE_DIAGNOSTICS_FAILED', message, { detail, site: detail })
}

/**
 * Warns of `hold`. The site of the warning is the place of the acquire, without the frames below it, which differ by
 * how often the caller has awaited. If the place is unknown, the site is the lock, or the map of a key. In a bundle the
 * first frames are those of the package, so the site is the whole stack.
 */
function warnOf({ observer, stack }, code, message) {
  if (stack === undefined) {
    warn(code, message, { site: `${observer.kind} ${observer.name}` })
    return
  }
  const site = isBundled ? stack : stack.split('\n', 1)[0]
  warn(code, message, { detail: `It was acquired here:\n${stack}`, site })
}

const thisThread = () => (threadId === 0 ? 'the main thread' : `thread ${threadId}`)

module.exports = { failed, leaked, longHold, searchFailed }
