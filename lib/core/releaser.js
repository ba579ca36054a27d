'use strict'
// Releasers: acquire() returns a function that releases one grant, once. It has own properties (release(),
// Symbol.dispose) instead of a prototype, because changing a function's prototype costs three times as much as all of
// them.

const done = Promise.resolve()

/** The method that releases an `abandoned` grant which no caller has seen: the next grant is `abandoned` instead. */
const undelivered = Symbol('undelivered')

/** Releases the grant of `release`, which no caller has seen. */
function giveBackUndelivered(release) {
  const giveBack = release[undelivered] ?? release
  giveBack()
}

/** The argument of callbacks under a lock of one thread. */
const localGrant = Object.freeze({ abandoned: false, fencingToken: undefined, signal: undefined })

// Twice as fast as Object.defineProperty(), and takes no descriptor, whose prototype a program may have extended.
const { __defineGetter__: defineGetter } = Object.prototype

/**
 * Adds the property `name` to `release`, with a getter whose `this` is `release`. Releasers with the same getter share
 * a hidden class. Returns `release`.
 */
function defineLazy(release, name, getter) {
  defineGetter.call(release, name, getter)
  return release
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

module.exports = { defineLazy, giveBackUndelivered, localGrant, makeReleaser, undelivered }
