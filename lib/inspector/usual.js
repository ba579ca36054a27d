'use strict'
// Which holds are out of the ordinary. What is usual for a lock is the p99 of its own ended holds; the keys of a map share
// those of the map.

const enoughHolds = 20
const times = 10
/** In milliseconds: the turns of a busy event loop take shorter holds so far. */
const least = 100

/** What is usual for each of `locks`, in milliseconds: undefined before enough holds have ended. */
function usualsOf(locks) {
  const usuals = new Map()
  for (const { id, holds } of locks) {
    const ended = holds?.buckets.reduce((sum, some) => sum + some, 0)
    if (ended >= enoughHolds) usuals.set(id, holds.p99)
  }
  return ({ id, map = id }) => usuals.get(map)
}

/** How a lock is marked: 'leaked' comes before 'long'. */
function markOf({ holders }, usual) {
  if (holders.some(({ isLeaked }) => isLeaked)) return 'leaked'
  const limit = usual === undefined ? Infinity : Math.max(least, times * usual)
  return holders.some(({ heldFor = 0 }) => heldFor > limit) ? 'long' : undefined
}

module.exports = { markOf, usualsOf }
