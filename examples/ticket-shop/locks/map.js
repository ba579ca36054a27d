'use strict'
const { Mutex } = require('async-mutex')

/** The map that people write by hand: one async-mutex per user, made on demand. */
module.exports = () => {
  const mutexes = new Map()

  return {
    async runExclusive(user, work) {
      let mutex = mutexes.get(user)
      if (!mutex) {
        mutex = new Mutex()
        mutexes.set(user, mutex)
      }
      try {
        return await mutex.runExclusive(work)
      } finally {
        // Without this the map keeps a mutex for every user who ever came. And without its second
        // half it could throw out a newer mutex of the same user, which somebody holds.
        if (!mutex.isLocked() && mutexes.get(user) === mutex) mutexes.delete(user)
      }
    },
    held: () => [...mutexes.keys()],
  }
}
