'use strict'
// How reports and messages name a lock.
const { isBundled } = require('../addon/bundle_advice.js')
const native = require('../addon/load.js')

/**
 * The line that has made the lock of an observer, if it has no name. Undefined where threads share the lock, which have a
 * constructor each, and in a bundle, where no frame tells where the package's own end.
 */
function placeOf({ lock, madeAt }) {
  const stack = lock.keyMap?.watch?.madeAt ?? madeAt
  return !stack || isBundled || lock.shared !== null ? undefined : stack.split('\n', 1)[0].trim()
}

/** Names the lock of an observer: by the place of its constructor, too, if it has no name. */
function titleOf(observer) {
  const title = observer.lock.title()
  const place = placeOf(observer)
  return place === undefined ? title : `${title} made ${place}`
}

/** An id that is the same in all threads that share the lock. */
function idOf({ kind, name, scope, tally, lock }) {
  if (name !== undefined) return `${kind} ${scope} ${name}`
  if (lock.shared === null) return `${kind} ${tally.id}`
  return `${kind} at ${native.regions.addressOf(lock.shared.wordIndex)}`
}

module.exports = { idOf, placeOf, titleOf }
