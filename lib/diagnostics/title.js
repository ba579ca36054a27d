'use strict'
const { isBundled } = require('../addon/bundle_advice.js')

/**
 * Names the lock of an observer: by the place of its constructor, too, if it has no name. Threads that share a lock have a
 * constructor each, and in a bundle no frame tells where the package's own end.
 */
function titleOf({ lock, madeAt }) {
  const place = lock.keyMap?.watch?.madeAt ?? madeAt
  if (!place || isBundled || lock.share !== null) return lock.title()
  return `${lock.title()} made ${place.split('\n', 1)[0].trim()}`
}

module.exports = { titleOf }
