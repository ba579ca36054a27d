'use strict'
// The tickets that acquire() of a semaphore resolves to: their form, and those of a semaphore of one thread.
const { observed } = require('./platform.js')
const { makeReleaser } = require('./releaser.js')

/** The property of a releaser with the observer's record of its grant. */
const holdKey = Symbol('hold')

/**
 * Makes the result of a semaphore's acquire(): the array of async-mutex, which `using` takes, too. A plain array with
 * own properties, because a class derived from Array makes an uncontended acquire half as slow again.
 *
 * With `isPromised` it returns a promise of the array. Promise.resolve() looks for a `then`, unless V8 sees where the
 * array was made: a sixth of an uncontended acquire.
 */
function asTicket(value, release, isPromised = false) {
  const ticket = [value, release]
  ticket.release = release
  ticket[Symbol.dispose] = release
  ticket[Symbol.asyncDispose] = asyncDisposeTicket
  return isPromised ? Promise.resolve(ticket) : ticket
}

function asyncDisposeTicket() {
  return this.release[Symbol.asyncDispose]()
}

/** The ticket of a semaphore of one thread. */
function localTicket(lock, weight) {
  return asTicket(lock.value, releaser(lock, weight))
}

/** Takes a unit for a caller that need not wait. Returns the promise of its ticket. */
function promisedTicket(lock) {
  const release = releaser(lock, 1)
  const promise = asTicket(lock.value, release, true)
  lock.value--
  if (lock.observer !== null) observeGrant(lock, 1, release, null, promise)
  return promise
}

/** Makes a releaser of `weight` units. It does nothing if the semaphore's key has been idle since the grant. */
function releaser(lock, weight) {
  const { generation } = lock
  let isOver = false
  const Releaser = () => {
    if (isOver || lock.generation !== generation) return
    lock.checkRelease()
    const back = lock.roomFor(weight)
    isOver = true
    if (lock.observer !== null) endObserved(lock, weight, Releaser)
    else lock.putBack(back)
  }
  return makeReleaser(Releaser, false)
}

// These functions are separate so that V8 still inlines the code of semaphores without an observer.

function observeGrant(lock, weight, release, waiter, promise, limits) {
  if (waiter !== null) waiter.markOver()
  const { observer } = lock
  const { granted } = observed
  release[holdKey] = granted(observer, undefined, weight, waiter, false, release, promise, limits)
}

function endObserved(lock, weight, release) {
  const { generation } = lock
  observed.ended(lock.observer, release[holdKey], weight)
  // The observer's callback may have released the key.
  if (lock.generation === generation) lock.giveBack(weight)
}

module.exports = { asTicket, localTicket, observeGrant, promisedTicket }
