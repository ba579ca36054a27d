'use strict'
// What acquire gives: a function that ends one grant, once, with the names that `using` and people look for.
// Own properties, not a prototype: changing a function's prototype costs three times as much as all of them.

const done = Promise.resolve()

function asyncDispose() {
  this()
  return done
}

function dress(release) {
  release.release = release
  release[Symbol.dispose] = release
  release[Symbol.asyncDispose] = asyncDispose
  release.abandoned = false
  return release
}

/** Ends the grant of that number. */
function mutexReleaser(lock, grant) {
  return dress(() => {
    if (lock.grant === grant) lock.unlock()
  })
}

/** Puts back `weight`, unless the key of the semaphore has been idle since. */
function semaphoreReleaser(lock, weight) {
  const { generation } = lock
  let isOver = false
  return dress(() => {
    if (isOver || lock.generation !== generation) return
    isOver = true
    lock.putBack(weight)
  })
}

module.exports = { dress, mutexReleaser, semaphoreReleaser }
