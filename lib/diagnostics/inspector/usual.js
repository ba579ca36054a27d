'use strict'
// Finds unusually long holds. The usual time of a lock is the p99 of its ended holds; keys use the p99 of their map.

const enoughHolds = 20
const times = 10
/** A hold of fewer milliseconds is never long: turns of a busy event loop can stretch short holds to this. */
const least = 100
/** A hold of more milliseconds is always long. */
const most = 120_000

/** Returns the usual hold time of each of `locks`, in milliseconds. Undefined before enough holds have ended. */
function usualsOf(locks) {
  const usuals = new Map()
  for (const { id, holds } of locks) {
    const ended = holds?.buckets.reduce((sum, some) => sum + some, 0)
    if (ended >= enoughHolds) usuals.set(id, holds.p99)
  }
  return ({ id, map = id }) => usuals.get(map)
}

/** Returns the mark of a lock. 'leaked' takes precedence over 'long'. */
function markOf({ holders }, usual) {
  if (holders.some(({ isLeaked }) => isLeaked)) return 'leaked'
  const limit = Math.min(most, usual === undefined ? Infinity : Math.max(least, times * usual))
  return holders.some(({ heldFor = 0 }) => heldFor > limit) ? 'long' : undefined
}

module.exports = { markOf, usualsOf }
