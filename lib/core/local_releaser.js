'use strict'
// Releasers of local mutexes and semaphores.
const { dressed } = require('./releaser.js')

/** Ends the grant of that number. */
function mutexReleaser(lock, grant) {
  return dressed(() => {
    if (lock.current === grant) lock.unlock()
  }, false)
}

/** What an observer knows of a releaser's grant. */
const holdKey = Symbol('hold')

/** Puts back `weight`, unless the key of the semaphore has been idle since. */
function semaphoreReleaser(lock, weight) {
  const { generation } = lock
  let out = weight
  const release = () => {
    if (out === 0 || lock.generation !== generation) return
    const back = out
    out = 0
    lock.putBack(back, release)
  }
  return dressed(release, false)
}

module.exports = { holdKey, mutexReleaser, semaphoreReleaser }
