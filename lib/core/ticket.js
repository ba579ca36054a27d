'use strict'
// The tickets that acquire of semaphores gives, and those of a semaphore of one thread.
const { observed } = require('./platform.js')
const { checkStack, checkStackToRelease } = require('./stack.js')
const { makeReleaser } = require('./releaser.js')

/** Where a releaser keeps the observer's record of its grant. */
const holdKey = Symbol('hold')

/**
 * What a semaphore's acquire gives: the array of async-mutex, which `using` takes, too. Own properties of a plain
 * array: a class derived from Array makes an uncontended acquire half as slow again.
 */
function asTicket(value, release) {
  const ticket = [value, release]
  ticket.release = release
  ticket[Symbol.dispose] = release
  ticket[Symbol.asyncDispose] = asyncDisposeTicket
  return ticket
}

function asyncDisposeTicket() {
  return this.release[Symbol.asyncDispose]()
}

/** The ticket of a semaphore of one thread. */
function localTicket(lock, weight) {
  return asTicket(lock.value, releaser(lock, weight))
}

/** Makes a releaser, which puts back `weight` unless the semaphore's key has been idle since. */
function releaser(lock, weight) {
  const { generation } = lock
  let isOver = false
  const Releaser = () => {
    if (isOver || lock.generation !== generation) return
    if (lock.observer === null) checkStackToRelease()
    else checkStack()
    const back = lock.roomFor(weight)
    isOver = true
    if (lock.observer !== null) endObserved(lock, weight, Releaser)
    // A key may have all of them back already, by release().
    else if (back > 0) lock.putBack(back)
  }
  return makeReleaser(Releaser, false)
}

// What an observer needs is in functions of its own: their code would keep that of unwatched semaphores from being inlined.

function observeGrant(lock, weight, ticket, waiter, promise, limits) {
  const { release } = ticket
  waiter?.markOver()
  const told = [waiter, false, release, promise, limits]
  release[holdKey] = observed.granted(lock.observer, undefined, weight, ...told)
}

function endObserved(lock, weight, release) {
  const { generation } = lock
  observed.ended(lock.observer, release[holdKey], weight)
  // The observer's callback may have released the key.
  if (lock.generation === generation) lock.giveBack(weight)
}

module.exports = { asTicket, localTicket, observeGrant }
