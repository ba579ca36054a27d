'use strict'

/** Runs what a click does while the user's lock in `locks`, a KeyedMutex, is held. */
module.exports = (locks) => ({
  /**
   * A process can be killed when it has just sent a query, and its successor may come first. So the lock
   * alone is not enough: whoever holds it has a number that grows with each holder, and the database
   * refuses what comes with a smaller one than it has seen. The lock saves work, and the number saves tickets.
   */
  async runExclusive(user, work) {
    const release = await locks.acquire(user)
    try {
      return await work(release.fencingToken)
    } finally {
      release()
    }
  },
  held: () => [...locks.keys()],
})
