'use strict'
const { KeyedMutex } = require('../../..') // in a server of your own: require('boxoffice')

/** One lock per user for all processes of the machine. */
module.exports = () => {
  const locks = new KeyedMutex({ scope: 'host', name: 'ticket-shop users' })

  return {
    /**
     * A process can be killed when it has just sent a query, and its successor may come first. So the lock
     * alone is not enough: whoever holds it has a number that grows with each holder, and the database
     * refuses what comes with a smaller one than it has seen.
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
  }
}
