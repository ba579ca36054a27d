'use strict'
const { Mutex } = require('async-mutex')

/** The usual hand-written map: one async-mutex per user, created on demand. */
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
        // Without this the map keeps a mutex for every user who ever came. Without the second half
        // of the condition it could drop a newer mutex of the same user that is still held.
        if (!mutex.isLocked() && mutexes.get(user) === mutex) mutexes.delete(user)
      }
    },
    held: () => [...mutexes.keys()],
  }
}
