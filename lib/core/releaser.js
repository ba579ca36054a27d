'use strict'
// What acquire gives: a function that lets go of one grant, once, with the names that `using` and
// people look for. Own properties, not a prototype: changing a function's prototype costs three
// times as much as all of them.

const done = Promise.resolve()

/**
 * Releases a grant that reports a death its caller never saw: the next grant reports it instead.
 */
const unseen = Symbol('unseen')

/** What a callback under a lock of one thread gets. */
const localGrant = Object.freeze({ abandoned: false, fencingToken: undefined, signal: undefined })

/**
 * The descriptor of a property of releasers that has the value of `read(release)` when a caller reads it. One serves all
 * releasers: with a getter of its own, each would get a hidden class of its own.
 */
function lazyProperty(read) {
  return {
    __proto__: null,
    configurable: true,
    enumerable: true,
    get() {
      return read(this)
    },
  }
}

function asyncDispose() {
  this()
  return done
}

function makeReleaser(release, abandoned) {
  release.release = release
  release[Symbol.dispose] = release
  release[Symbol.asyncDispose] = asyncDispose
  release.abandoned = abandoned
  return release
}

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
  this[1]()
  return done
}

module.exports = { asTicket, lazyProperty, localGrant, makeReleaser, unseen }
