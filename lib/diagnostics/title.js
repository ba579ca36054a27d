'use strict'

/** Names the lock of an observer: by the place of its constructor, too, if it has no name. */
function titleOf({ lock, madeAt }) {
  const place = lock.keyMap?.watch?.madeAt ?? madeAt
  return place ? `${lock.title()} made ${place.split('\n', 1)[0].trim()}` : lock.title()
}

module.exports = { titleOf }
