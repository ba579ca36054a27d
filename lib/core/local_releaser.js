'use strict'
// Releasers of local mutexes and semaphores.
const { dressed } = require('./releaser.js')

/** Ends the grant of that number. */
function mutexReleaser(lock, grant) {
  return dressed(() => {
    if (lock.current === grant) lock.unlock()
  }, false)
}

/** Puts back `weight`, unless the key of the semaphore has been idle since. */
function semaphoreReleaser(lock, weight) {
  const { generation } = lock
  let isOver = false
  return dressed(() => {
    if (isOver || lock.generation !== generation) return
    isOver = true
    lock.putBack(weight)
  }, false)
}

module.exports = { mutexReleaser, semaphoreReleaser }
