'use strict'
// How reports and messages name a lock.
const { isBundled } = require('../addon/bundle_advice.js')
const native = require('../addon/load.js')

/**
 * Returns the line that constructed the lock of an observer, if the lock has no name. Undefined if threads share the
 * lock, because each has constructed it, and in a bundle, where the frames of the package cannot be told from others.
 */
function placeOf({ lock, whole: { madeAt } }) {
  return !madeAt || isBundled || lock.shared !== null ? undefined : madeAt.split('\n', 1)[0].trim()
}

/** Returns the title of an observer's lock, with the place of its constructor if it has no name. */
function titleOf(observer) {
  const title = observer.lock.title()
  const place = placeOf(observer)
  return place === undefined ? title : `${title} made ${place}`
}

/** Returns an id that is the same in all threads that share the lock. */
function idOf({ kind, name, scope, tally, lock }) {
  if (name !== undefined) return `${kind} ${scope} ${name}`
  if (lock.shared === null) return `${kind} ${tally.id}`
  return `${kind} at ${native.regions.addressOf(lock.shared.wordIndex)}`
}

module.exports = { idOf, placeOf, titleOf }
